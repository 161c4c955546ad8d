/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a log, for those who read from the middle of them: their text by position. What it
 * says is not checked; audit/read/reader.h reads in order and does.
 */
#ifndef CORDON_AUDIT_ARCHIVE_H
#define CORDON_AUDIT_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/sha256.h"

struct audit_archive;

/*
 * The files as they are now, the oldest first; those that appear later are not seen. -ENOENT: no
 * such directory or no log in it; -EACCES, -EBADMSG (no regular file), ...
 */
int audit_archive_open(const char *directory, struct audit_archive **ret_archive,
		       struct failure *failure);
void audit_archive_close(struct audit_archive *archive);
DEFINE_CLEANUP(struct audit_archive *, audit_archive_close, audit_archive_closep)

size_t audit_archive_count(const struct audit_archive *archive);

/* The name within the directory. */
const char *audit_archive_name(const struct audit_archive *archive, size_t number);

/* Bytes of text when it was opened. */
uint64_t audit_archive_size(const struct audit_archive *archive, size_t number);

/*
 * What tells a compressed segment from others without decompressing it: size and checksum of its
 * text.
 * -ENODATA: it is not compressed.
 */
int audit_archive_stamp(const struct audit_archive *archive, size_t number, uint64_t *ret_stamp);

/*
 * Up to `size` bytes from `offset`, fewer only at the end. A compressed segment is decompressed as
 * a whole, and kept until another one is read. -EBADMSG: it is damaged; -errno of reading.
 */
int audit_archive_read(struct audit_archive *archive, size_t number, uint64_t offset, void *data,
		       size_t size, size_t *ret_size);

/*
 * The line at `offset`, in a buffer that grows as it must (start with NULL and 0; caller frees).
 * -ENODATA: it has no end; -EMSGSIZE: longer than any record.
 */
int audit_archive_line(struct audit_archive *archive, size_t number, uint64_t offset, char **buffer,
		       size_t *capacity, size_t *ret_size);

#endif
