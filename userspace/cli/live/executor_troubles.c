/* SPDX-License-Identifier: Apache-2.0 */
/* What a person has to see to about executors. */
#include "cli/live/executor_troubles.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"

struct teller {
	void (*say)(const char *line, void *context);
	void *context;
	size_t told;
};

static _printf_(2, 3) void tell(struct teller *teller, const char *format, ...)
{
	_cleanup_(freep) char *line = NULL;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vasprintf(&line, format, arguments);
	va_end(arguments);
	if (n < 0)
		line = NULL;
	teller->say(line ? line : "out of memory", teller->context);
	teller->told++;
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "?";
}

static json_int_t number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static void tell_entries(struct teller *teller, const json_t *executors)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(executors, "list"), i, entry) {
		if (json_is_false(json_object_get(entry, "followed")))
			tell(teller,
			     "%s:%" JSON_INTEGER_FORMAT
			     ": executor %s: one of its names cannot be looked up in time, so that a "
			     "change of it is not noticed: does a file system not answer?",
			     text_of(executors, "file"), number_of(entry, "line"),
			     text_of(entry, "name"));
		if (json_object_get(entry, "error"))
			tell(teller,
			     "%s:%" JSON_INTEGER_FORMAT
			     ": executor %s refuses all that it starts: %s",
			     text_of(executors, "file"), number_of(entry, "line"),
			     text_of(entry, "name"), text_of(entry, "error"));
	}
}

static void tell_processes(struct teller *teller, const json_t *executors)
{
	json_int_t more = number_of(executors, "before_more");
	const json_t *process;
	size_t i;

	json_array_foreach(json_object_get(executors, "before"), i, process)
		tell(teller,
		     "executor %s: process %" JSON_INTEGER_FORMAT
		     " ran before cordon knew of it, since %s; what it starts is not confined: %s",
		     text_of(process, "executor"), number_of(process, "pid"),
		     text_of(process, "since"), text_of(process, "remedy"));
	if (more > 0)
		tell(teller, "and %" JSON_INTEGER_FORMAT " more such processes", more);
}

size_t executor_troubles(const json_t *executors, void (*say)(const char *line, void *context),
			 void *context)
{
	struct teller teller = {.say = say, .context = context};
	const char *trouble = json_string_value(json_object_get(executors, "trouble"));

	if (trouble)
		tell(&teller, "%s is not in force, but the last that was good: %s",
		     text_of(executors, "file"), trouble);
	tell_entries(&teller, executors);
	tell_processes(&teller, executors);
	return teller.told;
}
