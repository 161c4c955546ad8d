/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log directory back, record by record, checking the chain on the way. */
#ifndef CORDON_AUDIT_READER_H
#define CORDON_AUDIT_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/read/cursor.h"
#include "base/cleanup.h"
#include "base/failure.h"

struct audit_reader;

/* -ENOENT: no such directory or no log in it; ... */
int audit_reader_open(const char *directory, struct audit_reader **ret_reader,
		      struct failure *failure);

/*
 * Goes on behind the record that the cursor names; *ret_missing: how many of those behind it are
 * deleted. -ESTALE: the record there has another chain value, or the log another id, or it ends
 * before: *failure says which; or as audit_reader_open().
 */
int audit_reader_open_after(const char *directory, const struct audit_cursor *cursor,
			    struct audit_reader **ret_reader, uint64_t *ret_missing,
			    struct failure *failure);

/*
 * The id of the host whose records it reads, as the log says it; empty: it does not. Valid until
 * the next call.
 */
const char *audit_reader_host(const struct audit_reader *reader);

/* How far it has read: what audit_reader_open_after() goes on from. */
void audit_reader_position(const struct audit_reader *reader, struct audit_cursor *ret_cursor);
void audit_reader_close(struct audit_reader *reader);
DEFINE_CLEANUP(struct audit_reader *, audit_reader_close, audit_reader_closep)

/*
 * The next record, a new reference. -ENODATA: the end for now (call again to follow a growing log);
 * -EBADMSG: a line that is not a record or breaks the chain: *failure says which segment and line
 * and why, *ret_record is what it holds, marked as damaged, or NULL where that is no record; the
 * next call goes on behind it.
 */
int audit_reader_next(struct audit_reader *reader, json_t **ret_record, struct failure *failure);

/*
 * The same as text: the next line without its newline, valid until the next call. -EBADMSG with a
 * line: it breaks the chain; else *ret_line is NULL.
 */
int audit_reader_next_line(struct audit_reader *reader, const char **ret_line, size_t *ret_size,
			   struct failure *failure);

struct audit_verification {
	uint64_t records; /* that are well chained */
	uint64_t segments;
	uint64_t problems;
	uint64_t torn_bytes; /* of a last line without its end: being written, or cut off */
	/* of the last record: keep them elsewhere to notice later that the end was cut off */
	uint64_t sequence;
	unsigned char chain[32];
};

/*
 * Reads to the end, reporting each problem in the words of audit_reader_next(). Torn bytes at the
 * end are no problem while somebody writes the log; else they are. 0, or negative errno if the log
 * cannot be read any further (*failure says why).
 */
int audit_reader_verify(struct audit_reader *reader, void (*problem)(void *data, const char *text),
			void *data, struct audit_verification *ret, struct failure *failure);

#endif
