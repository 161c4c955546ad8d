/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far somebody has read a log: the last record's place, and the chain value by which it is
 * known again.
 */
#ifndef CORDON_AUDIT_CURSOR_H
#define CORDON_AUDIT_CURSOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sha256.h"
#include "base/uuid.h"

struct audit_cursor {
	char log[UUID_TEXT_SIZE]; /* the log's id; empty: it says none, or it is not known */
	uint64_t sequence;	  /* of the last record that was read; 0: none */
	bool known;		  /* the chain value is */
	unsigned char chain[SHA256_SIZE];
};

/*
 * {"log": ..., "seq": N, "chain": ...}, a new reference, to which others may add. NULL: no memory.
 */
json_t *audit_cursor_to_json(const struct audit_cursor *cursor);

/* -EBADMSG: it is no cursor. Other members are nobody's business. */
int audit_cursor_from_json(const json_t *object, struct audit_cursor *ret_cursor);

/* A file of one JSON object, a new reference. -ENOENT, ...; -EBADMSG: it holds something else. */
int audit_cursor_load(const char *path, json_t **ret_object);

/*
 * Puts it in the file's place, by way of a file beside it: a reader finds the one or the other
 * whole, and where it is `lasting`, over a crash of the machine too. -errno of what failed.
 */
int audit_cursor_save(const char *path, const json_t *object, bool lasting);

#endif
