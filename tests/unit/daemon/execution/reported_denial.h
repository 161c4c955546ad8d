/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals that an execution's report is made of, each with another object. */
#ifndef CORDON_TESTS_REPORTED_DENIAL_H
#define CORDON_TESTS_REPORTED_DENIAL_H

#include <jansson.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "daemon/execution/reported.h"

/* `rule`: what would allow it, or NULL: a rule denies it. */
static inline void reported_denial(struct reported *reported, const char *rule)
{
	const struct cordon_denial_event event = {
		.event.type = CORDON_EVENT_DENIAL,
		.rights = (uint32_t)reported->count,
	};
	/* As event_text_write() has it. */
	json_t *record = json_pack("{s:{s:i, s:s, s:{s:s?, s:n}}}", "cordon", "repeats", 0,
				   "reason", rule ? "default" : "rule", "suggestion", "rule", rule,
				   "why");
	char *text = json_dumps(record, JSON_COMPACT);
	const struct buffer buffer = {.data = text, .size = strlen(text)};

	assert_int_equal(reported_add(reported, &event, &buffer, SIZE_MAX), 1);
	free(text);
	json_decref(record);
}

/* The same, with the denied name and one right in the record. */
static inline void reported_path_denial(struct reported *reported, const char *operation,
					const char *path, const char *right, const char *rule)
{
	const struct cordon_denial_event event = {
		.event.type = CORDON_EVENT_DENIAL,
		.rights = (uint32_t)reported->count,
	};
	json_t *record = json_pack(
		"{s:{s:s}, s:{s:s, s:i, s:i}, s:{s:{s:s}, s:s, s:i, s:{s:s, s:s}, s:[s], s:s, s:{s:s, "
		"s:n}}}",
		"event", "action", "denial", "process", "name", "job", "pid", 7, "x", 0, "cordon",
		"execution", "id", "01a200d6-0593-7d12-b4c9-af794e74c0c0", "operation", operation,
		"repeats", 0, "object", "kind", "path", "text", path, "rights", right, "reason",
		"default", "suggestion", "rule", rule, "why");
	char *text = json_dumps(record, JSON_COMPACT);
	const struct buffer buffer = {.data = text, .size = strlen(text)};

	assert_int_equal(reported_add(reported, &event, &buffer, SIZE_MAX), 1);
	free(text);
	json_decref(record);
}

#endif
