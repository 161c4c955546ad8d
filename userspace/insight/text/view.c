/* SPDX-License-Identifier: Apache-2.0 */
/* Finds fields of a record by their dotted names. */
#include "insight/text/view.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"

const json_t *view_field(const json_t *record, const char *name)
{
	while (record) {
		size_t length = strcspn(name, ".");

		record = json_object_getn(record, name, length);
		if (!name[length])
			break;
		name += length + 1;
	}
	return record;
}

const char *view_text(const json_t *record, const char *name)
{
	return json_string_value(view_field(record, name));
}

const char *view_workdir(const json_t *start)
{
	const char *workdir = view_text(start, "cordon.execution.workdir");

	return workdir && strcmp(workdir, "/") != 0 ? workdir : NULL;
}

uint64_t view_number(const json_t *record, const char *name)
{
	json_int_t value = json_integer_value(view_field(record, name));

	return value > 0 ? (uint64_t)value : 0;
}

bool view_has_number(const json_t *record, const char *name)
{
	return json_is_integer(view_field(record, name));
}

bool view_is(const json_t *record, const char *action)
{
	const char *is = view_text(record, "event.action");

	return is && strcmp(is, action) == 0;
}

bool view_is_refused(const json_t *record)
{
	return view_is(record, "denial") || view_is(record, "attempt");
}

bool view_is_denial(const json_t *record)
{
	return view_is_refused(record) || view_is(record, "would-deny");
}

const char *view_damage(const json_t *record)
{
	return view_text(record, "cordon.damaged");
}

uint64_t view_time(const json_t *record)
{
	const char *text = view_text(record, "@timestamp");

	return text ? view_time_of(text) : 0;
}

uint64_t view_steady_time(const json_t *record)
{
	const json_t *step = view_field(record, "cordon.clock_step_ns");

	return view_time(record) - (uint64_t)json_integer_value(step);
}

uint64_t view_time_of(const char *text)
{
	struct tm tm = {0};
	const char *rest;
	uint64_t nsec = 0;
	time_t seconds;

	rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!rest)
		return 0;
	seconds = timegm(&tm);
	if (seconds < 0)
		return 0;
	if (*rest == '.') {
		uint64_t unit = NSEC_PER_SEC / 10;

		for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
			nsec += (uint64_t)(*rest - '0') * unit;
	}
	return (uint64_t)seconds * NSEC_PER_SEC + nsec;
}
