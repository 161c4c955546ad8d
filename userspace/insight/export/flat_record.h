/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exports need of a record, as it stands in the record's line: nothing is copied or resolved,
 * so that a value goes from one JSON text to the other as it is.
 */
#ifndef CORDON_INSIGHT_FLAT_RECORD_H
#define CORDON_INSIGHT_FLAT_RECORD_H

#include <jansson.h>
#include <stdint.h>

#include "audit/text/buffer.h"
#include "insight/export/plain_json.h"

enum flat_field {
	FLAT_SEQ,
	FLAT_CHAIN,
	FLAT_TIMESTAMP,
	FLAT_HOST,
	FLAT_RULE,
	FLAT_MESSAGE,
	FLAT_ECS,
	FLAT_EVENT,
	FLAT_EVENT_ACTION,
	FLAT_EVENT_OUTCOME,
	FLAT_EVENT_DURATION,
	FLAT_EVENT_CATEGORY,
	FLAT_EVENT_TYPE,
	FLAT_EVENT_MODULE,
	FLAT_EVENT_DATASET,
	FLAT_EVENT_PROVIDER,
	FLAT_EVENT_SEQUENCE,
	FLAT_EVENT_HASH,
	FLAT_EVENT_REASON,
	FLAT_PROCESS_PID,
	FLAT_PROCESS_ENTITY,
	FLAT_PROCESS_NAME,
	FLAT_PROCESS_EXECUTABLE,
	FLAT_PROCESS_EXIT_CODE,
	FLAT_PROCESS_SIGNAL,
	FLAT_PARENT_PID,
	FLAT_PARENT_ENTITY,
	FLAT_USER,
	FLAT_ERROR_MESSAGE,
	FLAT_DESTINATION_IP,
	FLAT_DESTINATION_DOMAIN,
	FLAT_DESTINATION_PORT,
	FLAT_DESTINATION_BYTES,
	FLAT_DESTINATION_PACKETS,
	FLAT_SOURCE_IP,
	FLAT_SOURCE_BYTES,
	FLAT_SOURCE_PACKETS,
	FLAT_DIRECTION,
	FLAT_TRANSPORT,
	FLAT_QUESTION,
	FLAT_RESOLVED,
	FLAT_CORDON,
	FLAT_CORDON_SEQ,
	FLAT_CORDON_CHAIN,
	FLAT_CORDON_SIGNAL,
	FLAT_OPERATION,
	FLAT_OBJECT_KIND,
	FLAT_OBJECT_TEXT,
	FLAT_RIGHTS,
	FLAT_REASON,
	FLAT_ERROR,
	FLAT_REPEATS,
	FLAT_CORDON_RULE,
	FLAT_RULE_NUMBER,
	FLAT_RULE_TEXT,
	FLAT_RULE_MESSAGE,
	FLAT_RULE_FILE,
	FLAT_RULE_LINE,
	FLAT_RULE_SEVERITY,
	FLAT_POLICY_NAME,
	FLAT_POLICY_DIGEST,
	FLAT_EXECUTION,
	FLAT_SESSION,
	FLAT_AGENT,
	FLAT_PROGRAM,
	FLAT_TRACE,
	FLAT_SPAN,
	FLAT_CALLER_TRACE,
	FLAT_CALLER_SPAN,
	FLAT_FIELDS,
};

struct flat_record {
	const char *line;
	size_t size;
	struct plain_value values[FLAT_FIELDS]; /* no data: not there */
};

/* False: it is no plain line (plain_json.h), it has to be parsed. `line` stays the caller's. */
bool flat_record_read(struct flat_record *ret_record, const char *line, size_t size);

/* Any record; `text` holds its line, and stays the caller's. -ENOMEM. */
int flat_record_of(struct flat_record *ret_record, struct buffer *text, const json_t *record);

/* The field's own name, without those above it. */
const char *flat_name(enum flat_field field);

/* A string, as it stands between its quotes; NULL: there is none. */
const struct plain_value *flat_text(const struct flat_record *f, enum flat_field field);
bool flat_is(const struct flat_record *f, enum flat_field field, const char *word);

/* 0: it is none, or negative. */
uint64_t flat_number(const struct flat_record *f, enum flat_field field);
bool flat_has_number(const struct flat_record *f, enum flat_field field);

/* view_is_refused() and view_is_denial(), of the line. */
bool flat_is_refused(const struct flat_record *f);
bool flat_is_denial(const struct flat_record *f);

/* The next of a list, as it stands in the line; zero-initialise `next` first. False: no more. */
bool flat_next(const struct flat_record *f, enum flat_field list, struct plain_value *next);

/* A value with its quotes. */
void flat_put(struct buffer *out, const struct plain_value *value);

/* "key":value; nothing if there is no such string. */
void flat_put_text(struct buffer *out, const char *key, const struct flat_record *f,
		   enum flat_field field);

/* denial_phrase() of the record, quoted; there is an operation. */
void flat_put_phrase(struct buffer *out, const struct flat_record *f);

/* denial_reason_phrase() of the record. */
const char *flat_reason(const struct flat_record *f);

#endif
