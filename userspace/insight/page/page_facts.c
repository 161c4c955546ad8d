/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the page's part on an execution's properties. */
#include <inttypes.h>
#include <string.h>

#include "insight/text/html.h"
#include "base/cleanup.h"
#include "insight/story/outcome.h"
#include "insight/story/traffic.h"
#include "insight/page/page_parts.h"
#include "insight/text/style.h"
#include "insight/text/view.h"

/* Remote ends of an execution's traffic. */
#define TRAFFIC_SHOWN 20u

void page_damage(FILE *out, const json_t *record)
{
	if (!view_damage(record))
		return;
	fputs("<span class=\"tag bad\">damaged</span> ", out);
}

void page_result(FILE *out, const struct page_execution *e)
{
	_cleanup_(freep) char *limits = outcome_limits(e->end);
	const struct outcome o = outcome_of(e->end);
	char duration[STYLE_QUANTITY_SIZE];

	/* After denials, exit status 0 does not mean that the execution succeeded. */
	fprintf(out, "<span class=\"tag %s\">", !o.good ? "bad" : e->denied > 0 ? "warn" : "good");
	if (!e->end)
		fputs("its end was not logged", out);
	else if (o.phrase)
		html_text(out, o.phrase);
	else if (o.signal)
		html_format(out, "killed by %s", o.signal);
	else
		html_format(out, "exit %llu", o.code);
	fputs("</span>", out);
	if (e->end) {
		style_duration(view_number(e->end, "event.duration"), duration);
		fprintf(out, " after %s%s", duration, o.alone ? ", while no daemon ran" : "");
	}
	if (limits)
		html_format(out, ", limit reached: %s", limits);
}

static void term(FILE *out, const char *name)
{
	fprintf(out, "<dt>%s</dt><dd>", name);
}

static void text_fact(FILE *out, const char *name, const char *text, bool mono)
{
	if (!text)
		return;
	term(out, name);
	fputs(mono ? "<code>" : "", out);
	html_text(out, text);
	fputs(mono ? "</code></dd>\n" : "</dd>\n", out);
}

/* `more`: number of omitted entries. */
static void list_fact(FILE *out, const char *name, const json_t *list, uint64_t more)
{
	size_t count = json_array_size(list);

	term(out, name);
	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(list, i));

		fputs(i > 0 ? ", <code>" : "<code>", out);
		html_text(out, text);
		fputs("</code>", out);
	}
	if (more > 0)
		fprintf(out, "%s%" PRIu64 " more", count > 0 ? ", and " : "", more);
	fprintf(out, "%s</dd>\n", count == 0 && more == 0 ? "nothing" : "");
}

static void code_fact(FILE *out, const struct page_execution *e)
{
	const char *digest = view_text(e->end, "cordon.execution.code.sha256");
	const char *source = view_text(e->start, "cordon.execution.code.source");
	const char *path = view_text(e->start, "cordon.execution.code.path");

	if (!digest)
		digest = view_text(e->start, "cordon.execution.code.sha256");
	if (!source || strcmp(source, "none") == 0)
		return;
	term(out, "Code");
	if (path) {
		fputs("<code>", out);
		html_text(out, path);
		fputs("</code>, ", out);
	} else {
		html_format(out, "from %s, ", source);
	}
	fputs("SHA-256 <code>", out);
	html_text(out, digest);
	fputs("</code>", out);
	if (json_is_true(view_field(e->end, "cordon.execution.code.changed")))
		fputs(", changed before it was opened: this is not what ran", out);
	fputs("</dd>\n", out);
}

/*
 * Writes the arguments that the policy lets cordon record, except arguments with code; otherwise
 * the digest.
 */
static void arguments_fact(FILE *out, const json_t *start)
{
	const json_t *arguments = view_field(start, "process.args"), *argument;
	const char *digest = view_text(start, "cordon.arguments.sha256");
	size_t i;

	term(out, "Command");
	fputs("<code>", out);
	html_text(out, view_text(start, "cordon.execution.program"));
	json_array_foreach(arguments, i, argument) {
		/* The first is the program. */
		if (i == 0)
			continue;
		fputc(' ', out);
		html_text(out, json_is_string(argument) ? json_string_value(argument) : "<code>");
	}
	fprintf(out, "</code>, %llu arguments",
		(unsigned long long)view_number(start, "process.args_count"));
	if (digest)
		html_format(out, ", SHA-256 %s", digest);
	fputs("</dd>\n", out);
}

static void limits_fact(FILE *out, const json_t *start)
{
	char text[STYLE_QUANTITY_SIZE];
	static const struct {
		const char *field, *of;
	} sizes[] = {{"cordon.limits.memory_bytes", "memory"},
		     {"cordon.limits.address_space_bytes", "address space"},
		     {"cordon.limits.file_size_bytes", "per file"},
		     {"cordon.limits.io_read_bytes", "read a second"},
		     {"cordon.limits.io_write_bytes", "written a second"}},
	  numbers[] = {{"cordon.limits.cpu_percent", "% CPU"},
		       {"cordon.limits.pids", " processes"},
		       {"cordon.limits.open_files", " open files"}};
	const char *separator = "";

	term(out, "Limits");
	if (view_number(start, "cordon.limits.wall_ms")) {
		style_duration(view_number(start, "cordon.limits.wall_ms") * 1000000, text);
		fprintf(out, "%s wall clock", text);
		separator = ", ";
	}
	if (view_number(start, "cordon.limits.cpu_time_ms")) {
		style_duration(view_number(start, "cordon.limits.cpu_time_ms") * 1000000, text);
		fprintf(out, "%s%s CPU time", separator, text);
		separator = ", ";
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (!view_number(start, sizes[i].field))
			continue;
		style_bytes(view_number(start, sizes[i].field), text);
		fprintf(out, "%s%s %s", separator, text, sizes[i].of);
		separator = ", ";
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!view_number(start, numbers[i].field))
			continue;
		fprintf(out, "%s%llu%s", separator,
			(unsigned long long)view_number(start, numbers[i].field), numbers[i].of);
		separator = ", ";
	}
	fprintf(out, "%s</dd>\n", separator[0] ? "" : "none");
}

static void resources_fact(FILE *out, const json_t *end)
{
	char user[STYLE_QUANTITY_SIZE], system[STYLE_QUANTITY_SIZE], memory[STYLE_QUANTITY_SIZE];

	if (!end)
		return;
	style_duration(view_number(end, "cordon.resources.cpu_user_ns"), user);
	style_duration(view_number(end, "cordon.resources.cpu_system_ns"), system);
	style_bytes(view_number(end, "cordon.resources.memory_peak_bytes"), memory);
	term(out, "Used");
	if (view_has_number(end, "cordon.resources.cpu_user_ns"))
		fprintf(out, "CPU %s in user mode and %s in the kernel", user, system);
	if (view_has_number(end, "cordon.resources.memory_peak_bytes"))
		fprintf(out, ", memory up to %s", memory);
	fprintf(out, "; programs run: %llu, forks: %llu",
		(unsigned long long)view_number(end, "cordon.counters.execs"),
		(unsigned long long)view_number(end, "cordon.counters.forks"));
	if (view_number(end, "cordon.end.killed_tasks"))
		fprintf(out, "; left running, and killed at the end: %llu",
			(unsigned long long)view_number(end, "cordon.end.killed_tasks"));
	fputs("</dd>\n", out);
}

static void traffic_fact(FILE *out, const struct page_execution *e)
{
	_cleanup_(freep) const json_t **traffic = NULL;
	size_t count = 0;

	if (traffic_of(e->records, e->count, &traffic, &count) < 0 || count == 0)
		return;
	term(out, "Sent and received");
	for (size_t i = 0; i < count && i < TRAFFIC_SHOWN; i++) {
		_cleanup_(freep) char *end = traffic_end(traffic[i]);
		_cleanup_(freep) char *amount = traffic_amount(traffic[i]);

		fputs(i > 0 ? "<br>" : "", out);
		html_text(out, end ? end : "?");
		html_format(out, ": %s", amount ? amount : "?");
		page_damage(out, traffic[i]);
	}
	if (count > TRAFFIC_SHOWN)
		fprintf(out, "<br>and %zu more", count - TRAFFIC_SHOWN);
	fputs("</dd>\n", out);
}

/* With the digests of their arguments, if known. */
static void starters_fact(FILE *out, const json_t *start)
{
	const json_t *process;
	size_t i;

	if (view_has_number(start, "cordon.started_by.login_uid")) {
		term(out, "Logged in as");
		fprintf(out, "user %llu</dd>\n",
			(unsigned long long)view_number(start, "cordon.started_by.login_uid"));
	}
	if (json_array_size(view_field(start, "cordon.started_by.processes")) == 0)
		return;
	term(out, "Below");
	json_array_foreach(view_field(start, "cordon.started_by.processes"), i, process) {
		const char *digest = view_text(process, "arguments_sha256");
		const char *program = view_text(process, "executable");

		fputs(i > 0 ? "<br><code>" : "<code>", out);
		html_text(out, program ? program : view_text(process, "name"));
		fprintf(out, "</code>, process %llu",
			(unsigned long long)view_number(process, "pid"));
		html_format(out, " since %s", view_text(process, "started"));
		if (digest)
			html_format(out, ", SHA-256 of its arguments %s", digest);
	}
	fputs("</dd>\n", out);
}

void page_facts(FILE *out, const struct page_execution *e)
{
	const json_t *s = e->start;
	const char *policy = view_text(s, "cordon.policy.name");

	fputs("<dl>\n", out);
	term(out, "Result");
	page_result(out, e);
	fprintf(out, ", %llu refused</dd>\n", (unsigned long long)e->denied);
	if (!s) {
		term(out, "Note");
		fputs("the record of its start is not in this log</dd>\n</dl>\n", out);
		return;
	}
	text_fact(out, "Started", view_text(s, "@timestamp"), false);
	text_fact(out, "Ended", view_text(e->end, "@timestamp"), false);
	arguments_fact(out, s);
	text_fact(out, "User", view_text(s, "user.id"), false);
	text_fact(out, "Agent", view_text(s, "cordon.execution.agent"), false);
	text_fact(out, "Session", view_text(s, "cordon.execution.session"), false);
	text_fact(out, "Container", view_text(s, "container.name"), false);
	text_fact(out, "Container's id", view_text(s, "container.id"), true);
	text_fact(out, "Image", view_text(s, "container.image.name"), false);
	text_fact(out, "Started by", view_text(s, "cordon.execution.executor"), false);
	starters_fact(out, s);
	text_fact(out, "Work directory", view_text(s, "cordon.execution.workdir"), true);
	code_fact(out, e);
	term(out, "Policy");
	html_text(out, policy);
	html_format(out, " (%s), ", view_text(s, "cordon.execution.mode"));
	fputs("<code>", out);
	html_text(out, view_text(s, "cordon.policy.file"));
	fputs("</code>, SHA-256 of its tables <code>", out);
	html_text(out, view_text(s, "cordon.policy.digest"));
	fputs("</code></dd>\n", out);
	limits_fact(out, s);
	resources_fact(out, e->end);
	traffic_fact(out, e);
	list_fact(out, "Environment kept", view_field(s, "cordon.environment.kept"), 0);
	list_fact(out, "Environment removed", view_field(s, "cordon.environment.removed"),
		  view_number(s, "cordon.environment.unnamed"));
	fputs("</dl>\n", out);
}
