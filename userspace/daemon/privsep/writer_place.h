/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of a log's writer. A process that may wait for the file system finds it once. From
 * then on, a descriptor holds it that needs no access to the file system.
 */
#ifndef CORDON_DAEMON_WRITER_PLACE_H
#define CORDON_DAEMON_WRITER_PLACE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/failure.h"

struct writer_place {
	int fd; /* O_PATH; -1: unknown */
	dev_t device;
	ino_t inode;
};

#define WRITER_PLACE_NONE (struct writer_place){.fd = -1}

void writer_place_release(struct writer_place *place);

/* As writer_directory_open(). Blocks on the file system. */
int writer_place_find(const char *directory, uid_t uid, gid_t gid, struct writer_place *ret_place,
		      struct failure *failure);

/*
 * Checks whether the path still leads to that directory, only with the kernel's caches
 * (RESOLVE_CACHED, openat2(2); AT_STATX_DONT_SYNC, statx(2)). Returns 1 if it does, 0 if not, or
 * -EAGAIN if that needs an access to a file system.
 */
int writer_place_is(const struct writer_place *place, const char *directory);
/* The same, but accesses the file system, and blocks. */
bool writer_place_is_now(const struct writer_place *place, const char *directory);

/*
 * Pass a place to another process as text; the descriptor is passed separately. The parser returns
 * 0, -ENOMEM, or -EPROTO for another text. The caller frees *ret_directory.
 */
void writer_place_write(const struct writer_place *place, const char *directory, FILE *to);
int writer_place_parse(const char *data, size_t size, struct writer_place *ret_place,
		       char **ret_directory);

#endif
