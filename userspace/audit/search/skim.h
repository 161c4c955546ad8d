/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few fields of a record that an index needs, from its line of JSON without parsing all of it.
 * What it finds in a line that a parser accepts is what the parser finds there.
 */
#ifndef CORDON_AUDIT_SKIM_H
#define CORDON_AUDIT_SKIM_H

#include <stdbool.h>
#include <stddef.h>

/* The numbers stand in indexes: INDEX_VERSION changes with them. */
enum skim_field {
	SKIM_TIME,	 /* @timestamp */
	SKIM_ACTION,	 /* event.action */
	SKIM_EXECUTION,	 /* cordon.execution.id */
	SKIM_SESSION,	 /* cordon.execution.session */
	SKIM_AGENT,	 /* cordon.execution.agent */
	SKIM_POLICY,	 /* cordon.policy.name */
	SKIM_DIGEST,	 /* cordon.policy.digest */
	SKIM_OPERATION,	 /* cordon.operation */
	SKIM_PATH,	 /* file.path */
	SKIM_EXECUTABLE, /* process.executable */
	SKIM_ADDRESS,	 /* destination.ip */
	SKIM_FIELD_COUNT,
};

struct skim_value {
	const char *data; /* in the line; NULL: there is no such string */
	size_t size;
	bool escaped; /* has escape sequences: skim_decode() resolves them */
};

struct skim {
	struct skim_value values[SKIM_FIELD_COUNT];
};

/* "cordon.execution.id" */
const char *skim_field_name(enum skim_field field);

/* -EBADMSG: no JSON object. Not all that is no JSON is noticed. */
int skim_record(const char *line, size_t size, struct skim *ret_skim);

/*
 * The value as UTF-8 in `buffer`, or where it stands in the line if nothing has to be resolved.
 * -ENOBUFS: longer than the buffer; -EBADMSG: no JSON string.
 */
int skim_decode(const struct skim_value *value, char *buffer, size_t capacity,
		const char **ret_text, size_t *ret_size);

#endif
