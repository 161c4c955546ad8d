/* SPDX-License-Identifier: Apache-2.0 */
/* Describes how an execution ended, for readers who do not know exit codes. */
#include "insight/story/outcome.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "insight/text/view.h"

static const char *cause_phrase(const char *cause)
{
	static const struct {
		const char *cause, *phrase;
	} phrases[] = {
		{"timeout", "killed: its time was up"},
		{"denials", "killed: too many denials"},
		{"owner-gone", "killed: the process that started it exited"},
		{"killed", "killed on request"},
		{"recovered", "killed: found orphaned when cordon started"},
		{"cancelled", "killed: it did not end on request"},
		{"not-started", "never ran: the program could not be executed"},
	};

	for (size_t i = 0; cause && i < ARRAY_SIZE(phrases); i++)
		if (strcmp(phrases[i].cause, cause) == 0)
			return phrases[i].phrase;
	return NULL;
}

struct outcome outcome_of(const json_t *end)
{
	const char *cause = view_text(end, "cordon.end.cause");
	struct outcome o = {
		.phrase = cause_phrase(cause),
		.signal = view_text(end, "cordon.end.signal"),
		.code = view_number(end, "cordon.end.exit_code"),
	};

	/* The client reported the end to the next daemon. */
	o.alone = o.phrase && strcmp(cause, "recovered") == 0 &&
		  view_has_number(end, "cordon.end.exit_code");
	if (o.alone)
		o.phrase = NULL;
	o.good = end && !o.phrase && !o.signal && o.code == 0;
	return o;
}

char *outcome_limits(const json_t *end)
{
	static const struct {
		const char *name, *phrase;
	} phrases[] = {
		{"memory", "memory"},
		{"pids", "processes"},
		{"cpu-time", "CPU time"},
		{"file-size", "file size"},
		{"system-calls", "the filter of system calls"},
	};
	_cleanup_(freep) char *text = NULL;
	size_t size = 0, index;
	const json_t *limit;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	json_array_foreach(view_field(end, "cordon.end.limits"), index, limit)
		for (size_t i = 0; json_is_string(limit) && i < ARRAY_SIZE(phrases); i++)
			if (strcmp(phrases[i].name, json_string_value(limit)) == 0)
				fprintf(out, "%s%s", ftell(out) > 0 ? ", " : "", phrases[i].phrase);
	return fclose(out) == 0 && size > 0 ? TAKE_PTR(text) : NULL;
}
