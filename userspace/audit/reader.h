/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log directory back, record by record, checking the chain on the way. */
#ifndef CORDON_AUDIT_READER_H
#define CORDON_AUDIT_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/failure.h"

struct audit_reader;

/* -ENOENT: no such directory or no log in it; ... */
int audit_reader_open(const char *directory, struct audit_reader **ret_reader,
		      struct failure *failure);
void audit_reader_close(struct audit_reader *reader);
DEFINE_CLEANUP(struct audit_reader *, audit_reader_close, audit_reader_closep)

/*
 * The next record, a new reference. -ENODATA: the end for now (call again to follow a growing
 * log); -EBADMSG: a line that is not a record or breaks the chain: *failure says which segment and line
 * and why; the next call goes on behind it.
 */
int audit_reader_next(struct audit_reader *reader, json_t **ret_record, struct failure *failure);

struct audit_verification {
	uint64_t records;
	uint64_t segments;
	uint64_t problems;
};

#endif
