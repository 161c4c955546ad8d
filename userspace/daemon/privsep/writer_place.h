/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory that a log's writer is given: found once, by a process that may wait for its file
 * system, and held from then on by a descriptor that asks that file system for nothing.
 */
#ifndef CORDON_DAEMON_WRITER_PLACE_H
#define CORDON_DAEMON_WRITER_PLACE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/failure.h"

struct writer_place {
	int fd; /* O_PATH; -1: it is not known */
	dev_t device;
	ino_t inode;
};

#define WRITER_PLACE_NONE (struct writer_place){.fd = -1}

void writer_place_release(struct writer_place *place);

/* As writer_directory_open(). Waits for the file system. */
int writer_place_find(const char *directory, uid_t uid, gid_t gid, struct writer_place *ret_place,
		      struct failure *failure);

/*
 * Does the name lead there still? By what the kernel has in its caches (RESOLVE_CACHED, openat2(2);
 * AT_STATX_DONT_SYNC, statx(2)). 1: yes; 0: no; -EAGAIN: a file system would have to be asked.
 */
int writer_place_is(const struct writer_place *place, const char *directory);
/* Asks, and waits for it. */
bool writer_place_is_now(const struct writer_place *place, const char *directory);

/* From a process to another: what stands in text, beside the descriptor. -EPROTO: none of these. */
void writer_place_write(const struct writer_place *place, const char *directory, FILE *to);
int writer_place_parse(const char *data, size_t size, struct writer_place *ret_place,
		       char **ret_directory);

#endif
