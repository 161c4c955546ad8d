/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the denials of a report as the records that it was made of. */
#include <string.h>

#include "insight/recording/recording.h"
#include "insight/text/view.h"

static json_t *copy_or_null(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return value ? json_incref(value) : json_null();
}

static int add(struct recording *r, json_t *record)
{
	int result = record ? recording_add(r, record) : -ENOMEM;

	json_decref(record);
	return result;
}

static json_t *start_of(const json_t *report)
{
	const json_t *policy = json_object_get(report, "policy");

	return json_pack("{s:I, s:{s:s}, s:{s:{s:o, s:s, s:o}, s:{s:o, s:o, s:o}}}", "seq",
			 (json_int_t)0, "event", "action", "execution-start", "cordon", "execution",
			 "id", copy_or_null(report, "execution"), "mode", "enforce", "directories",
			 copy_or_null(report, "directories"), "policy", "name",
			 copy_or_null(policy, "name"), "file", copy_or_null(policy, "file"),
			 "digest", copy_or_null(policy, "digest"));
}

static json_t *record_of(const json_t *report, const json_t *entry, size_t number)
{
	const json_t *access = json_object_get(entry, "access");
	json_int_t count = json_integer_value(json_object_get(entry, "count"));

	return json_pack("{s:I, s:{s:o}, s:{s:o}, s:o, s:o, s:{s:{s:o}, s:o, s:o, s:o, s:o, s:I}}",
			 "seq", (json_int_t)number, "event", "action",
			 copy_or_null(access, "action"), "process", "name",
			 copy_or_null(access, "program"), "destination",
			 copy_or_null(access, "destination"), "network",
			 copy_or_null(access, "network"), "cordon", "execution", "id",
			 copy_or_null(report, "execution"), "operation",
			 copy_or_null(entry, "operation"), "object", copy_or_null(access, "object"),
			 "rights", copy_or_null(entry, "rights"), "reason",
			 copy_or_null(access, "reason"), "repeats", count > 0 ? count - 1 : 0);
}

int recording_add_report(struct recording *r, const json_t *report)
{
	const json_t *list = json_object_get(report, "denials"), *entry;
	size_t i;
	int result;

	if (!view_text(report, "execution") || !json_is_array(list))
		return -EINVAL;
	result = add(r, start_of(report));
	json_array_foreach(list, i, entry) {
		if (result == 0 && json_is_object(json_object_get(entry, "access")))
			result = add(r, record_of(report, entry, i + 1));
	}
	return result;
}
