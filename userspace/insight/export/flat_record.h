/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members that exports need, as positions in a record's line. Nothing is copied or unescaped,
 * so that values are copied unchanged from one JSON text to the other.
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
	struct plain_value values[FLAT_FIELDS]; /* no data: missing */
};

/*
 * Reads a line, which must outlive *ret_record. Returns false if it is not plain (plain_json.h) and
 * must be parsed.
 */
bool flat_record_read(struct flat_record *ret_record, const char *line, size_t size);

/* Reads any record; `text` gets its line, and must outlive *ret_record. Returns 0 or -ENOMEM. */
int flat_record_of(struct flat_record *ret_record, struct buffer *text, const json_t *record);

/* Returns the last component of the field's name. */
const char *flat_name(enum flat_field field);

/* Returns a string without its quotes and with its escapes, or NULL. */
const struct plain_value *flat_text(const struct flat_record *f, enum flat_field field);
bool flat_is(const struct flat_record *f, enum flat_field field, const char *word);

/* Returns 0 if it is missing or negative. */
uint64_t flat_number(const struct flat_record *f, enum flat_field field);
bool flat_has_number(const struct flat_record *f, enum flat_field field);

/* As view_is_refused() and view_is_denial(), for the line. */
bool flat_is_refused(const struct flat_record *f);
bool flat_is_denial(const struct flat_record *f);

/*
 * Returns a list's next value as in the line; zero-initialise `next` first. Returns false at the
 * end.
 */
bool flat_next(const struct flat_record *f, enum flat_field list, struct plain_value *next);

/* Writes a value with its quotes. */
void flat_put(struct buffer *out, const struct plain_value *value);

/* Writes "key":value if the string exists. */
void flat_put_text(struct buffer *out, const char *key, const struct flat_record *f,
		   enum flat_field field);

/* Writes the quoted denial_phrase() of the record, which must have an operation. */
void flat_put_phrase(struct buffer *out, const struct flat_record *f);

/* Returns denial_reason_phrase() of the record. */
const char *flat_reason(const struct flat_record *f);

#endif
