/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a log, segment after segment: the closed ones in the order of their names, then the
 * one that grows. What is said of a failure begins with file and line.
 */
#ifndef CORDON_AUDIT_LINES_H
#define CORDON_AUDIT_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/storage/segments.h"
#include "base/cleanup.h"
#include "base/failure.h"
#include "base/sha256.h"

struct lines;

/* What changed between a line and the one before it. */
enum lines_event {
	LINES_NONE,
	LINES_SEGMENT, /* another segment begins */
	LINES_REPLACED, /* another file took the place of the one that grew: the log may be a new one */
	LINES_CUT, /* the file became shorter while it was read: what came before is not known */
};

/* `digests`: take the digests of compressed segments. Errors as audit_reader_open(). */
int lines_open(const char *directory, bool digests, struct lines **ret_lines,
	       struct failure *failure);
/*
 * The same from the segment on that has the record `after`, or, where its segment is gone, from the
 * oldest that is left. A segment that is closed meanwhile may come to begin behind that record:
 * look, and open again.
 */
int lines_open_at(const char *directory, uint64_t after, struct lines **ret_lines,
		  struct failure *failure);
void lines_close(struct lines *lines);
DEFINE_CLEANUP(struct lines *, lines_close, lines_closep)

/*
 * The next whole line without its newline, valid until the next call. -ENODATA: the end for now;
 * -EBADMSG: a line that is too long, a segment that is damaged, or the file was cut: the next call
 * goes on
 * behind it; or what reading said.
 */
int lines_next(struct lines *lines, const char **ret_line, size_t *ret_size,
	       struct failure *failure);

/* Since the last call of this function. */
enum lines_event lines_take_event(struct lines *lines);

const char *lines_directory(const struct lines *lines);
/* Of the line last handed out: its file, and its number there, from 1. */
const char *lines_path(const struct lines *lines);
uint64_t lines_number(const struct lines *lines);
/* The seq that its segment should begin with, 0: not known. */
uint64_t lines_segment_first(const struct lines *lines);
uint64_t lines_segment_count(const struct lines *lines);
/* Bytes of a last line without its end. */
size_t lines_torn(const struct lines *lines);
/* All bytes of lines handed out. */
uint64_t lines_bytes(const struct lines *lines);

/* Called for each compressed segment that was read to its end, with its file's digest. */
typedef void (*lines_digest_handler)(void *data, uint64_t first,
				     const unsigned char digest[SHA256_SIZE]);
void lines_on_digest(struct lines *lines, lines_digest_handler handler, void *data);

#endif
