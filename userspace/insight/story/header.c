/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the head of an execution's description: program, policy, result. */
#include "insight/story/header.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "insight/story/line.h"
#include "insight/story/outcome.h"
#include "insight/story/traffic.h"
#include "insight/text/view.h"

#define COMMAND_LIMIT	  60
#define COMMAND_ARGUMENTS 8u
#define TRAFFIC_SHOWN	  8u
#define DIGEST_SHOWN	  19 /* sixteen digits and an ellipsis */

struct header {
	FILE *out;
	const struct style *style;
	bool first; /* the line is empty */
};

static void label(struct header *h, const char *text)
{
	style_begin(h->out, h->style, STYLE_DIM);
	fprintf(h->out, "  %-9s ", text);
	style_end(h->out, h->style, STYLE_DIM);
	h->first = true;
}

static void separate(struct header *h)
{
	if (!h->first)
		fputs(h->style->unicode ? " · " : ", ", h->out);
	h->first = false;
}

static void untrusted(struct header *h, const char *text)
{
	separate(h);
	style_text(h->out, h->style, text);
}

/* Writes "session s-17", or nothing if the record has none. */
static void named(struct header *h, const char *name, const char *text)
{
	if (!text)
		return;
	separate(h);
	fprintf(h->out, "%s ", name);
	style_text(h->out, h->style, text);
}

static void digest(struct header *h, const char *text)
{
	if (!text)
		return;
	separate(h);
	fputs("sha256 ", h->out);
	style_text_in(h->out, h->style, STYLE_DIM, text, DIGEST_SHOWN);
}

static void quantity(struct header *h, const char *text, const char *of)
{
	separate(h);
	fprintf(h->out, "%s %s", text, of);
}

static void number(struct header *h, unsigned long long value, const char *of)
{
	char text[STYLE_QUANTITY_SIZE];

	snprintf(text, sizeof(text), "%llu", value);
	quantity(h, text, of);
}

static void bytes(struct header *h, unsigned long long value, const char *of)
{
	char text[STYLE_QUANTITY_SIZE];

	style_bytes(value, text);
	quantity(h, text, of);
}

static void duration(struct header *h, unsigned long long nsec, const char *of)
{
	char text[STYLE_QUANTITY_SIZE];

	style_duration(nsec, text);
	quantity(h, text, of);
}

static void end_line(struct header *h)
{
	fputc('\n', h->out);
}

static void write_policy(struct header *h, const json_t *start)
{
	const char *name = view_text(start, "cordon.policy.name");
	const char *mode = view_text(start, "cordon.execution.mode");
	const char *file = view_text(start, "cordon.policy.file");

	label(h, "policy");
	untrusted(h, name ? name : "?");
	if (mode) {
		fputs(" (", h->out);
		style_text_in(h->out, h->style,
			      strcmp(mode, "observe") == 0 ? STYLE_WARN : STYLE_PLAIN, mode, 0);
		fputc(')', h->out);
	}
	if (file)
		untrusted(h, file);
	digest(h, view_text(start, "cordon.policy.digest"));
	end_line(h);
}

static void write_code(struct header *h, const json_t *start, const json_t *end)
{
	const char *source = view_text(start, "cordon.execution.code.source");
	const char *language = view_text(start, "cordon.execution.language");
	const char *path = view_text(start, "cordon.execution.code.path");
	const char *sum = view_text(start, "cordon.execution.code.sha256");
	const json_t *from = start;

	/* The digest of code on standard input is known at the end. */
	if (!sum && end) {
		from = end;
		sum = view_text(end, "cordon.execution.code.sha256");
	}
	if (!source || (strcmp(source, "none") == 0 && !language))
		return;
	label(h, "code");
	if (path)
		untrusted(h, path);
	else if (strcmp(source, "argument") == 0)
		untrusted(h, "given as an argument");
	else if (strcmp(source, "stdin") == 0)
		untrusted(h, "given on standard input");
	if (language)
		untrusted(h, language);
	if (sum)
		bytes(h, view_number(from, "cordon.execution.code.length"), "long");
	digest(h, sum);
	if (end && json_is_true(view_field(end, "cordon.execution.code.changed")))
		untrusted(h, "changed before it was opened: this is not what ran");
	end_line(h);
}

/* Writes the ancestors, nearest first. */
static void write_starters(struct header *h, const json_t *processes)
{
	const json_t *process;
	size_t i;

	if (json_array_size(processes) == 0)
		return;
	label(h, "below");
	json_array_foreach(processes, i, process) {
		const char *program = view_text(process, "executable");

		separate(h);
		if (!program)
			program = view_text(process, "name");
		style_text(h->out, h->style, program ? program : "?");
		fprintf(h->out, "[%llu]", (unsigned long long)view_number(process, "pid"));
	}
	end_line(h);
}

static void login(struct header *h, unsigned long long uid)
{
	separate(h);
	fprintf(h->out, "logged in as %llu", uid);
}

static void write_origin(struct header *h, const json_t *start)
{
	const char *container = view_text(start, "container.name");
	const char *image = view_text(start, "container.image.name");

	label(h, "started");
	named(h, "by", view_text(start, "cordon.execution.executor"));
	named(h, "agent", view_text(start, "cordon.execution.agent"));
	named(h, "session", view_text(start, "cordon.execution.session"));
	named(h, "container", container ? container : view_text(start, "container.id"));
	named(h, "image", image);
	named(h, "user", view_text(start, "user.id"));
	named(h, "group", view_text(start, "group.id"));
	if (view_has_number(start, "cordon.started_by.login_uid"))
		login(h, view_number(start, "cordon.started_by.login_uid"));
	named(h, "conversation", view_text(start, "cordon.caller.conversation_id"));
	named(h, "trace", view_text(start, "cordon.caller.trace_id"));
	end_line(h);
	write_starters(h, view_field(start, "cordon.started_by.processes"));
}

static void write_limits(struct header *h, const json_t *start)
{
	const json_t *limits = view_field(start, "cordon.limits");
	const json_t *missing = view_field(limits, "missing");

	label(h, "limits");
	if (view_number(limits, "wall_ms"))
		duration(h, view_number(limits, "wall_ms") * NSEC_PER_MSEC, "wall clock");
	if (view_number(limits, "cpu_time_ms"))
		duration(h, view_number(limits, "cpu_time_ms") * NSEC_PER_MSEC, "CPU time");
	if (view_number(limits, "cpu_percent")) {
		separate(h);
		fprintf(h->out, "%llu%% CPU",
			(unsigned long long)view_number(limits, "cpu_percent"));
	}
	if (view_number(limits, "memory_bytes"))
		bytes(h, view_number(limits, "memory_bytes"), "memory");
	if (view_number(limits, "address_space_bytes"))
		bytes(h, view_number(limits, "address_space_bytes"), "address space");
	if (view_number(limits, "file_size_bytes"))
		bytes(h, view_number(limits, "file_size_bytes"), "per file");
	if (view_number(limits, "pids"))
		number(h, view_number(limits, "pids"), "tasks");
	if (view_number(limits, "open_files"))
		number(h, view_number(limits, "open_files"), "open files");
	if (view_number(limits, "io_read_bytes"))
		bytes(h, view_number(limits, "io_read_bytes"), "read a second");
	if (view_number(limits, "io_write_bytes"))
		bytes(h, view_number(limits, "io_write_bytes"), "written a second");
	if (h->first)
		untrusted(h, "none");
	end_line(h);
	for (size_t i = 0; i < json_array_size(missing); i++) {
		const char *text = json_string_value(json_array_get(missing, i));

		label(h, "");
		style_text_in(h->out, h->style, STYLE_WARN, "not applied: ", 0);
		style_text_in(h->out, h->style, STYLE_WARN, text ? text : "?", 0);
		end_line(h);
	}
}

static void write_use(struct header *h, const json_t *end)
{
	const json_t *use = view_field(end, "cordon.resources");

	if (!use)
		return;
	label(h, "used");
	if (view_has_number(use, "cpu_user_ns"))
		duration(h, view_number(use, "cpu_user_ns") + view_number(use, "cpu_system_ns"),
			 "CPU");
	if (view_has_number(use, "memory_peak_bytes"))
		bytes(h, view_number(use, "memory_peak_bytes"), "memory at most");
	if (view_number(use, "oom_kills"))
		number(h, view_number(use, "oom_kills"), "killed for want of memory");
	if (view_has_number(use, "pids_peak"))
		number(h, view_number(use, "pids_peak"), "tasks at once");
	number(h, view_number(end, "cordon.counters.forks"), "forks");
	number(h, view_number(end, "cordon.counters.execs"), "execs");
	if (view_number(end, "cordon.network.packets_sent"))
		bytes(h, view_number(end, "cordon.network.bytes_sent"), "sent");
	if (view_number(end, "cordon.network.packets_received"))
		bytes(h, view_number(end, "cordon.network.bytes_received"), "received");
	end_line(h);
}

/* Writes the remote ends with the most traffic. */
static void write_traffic(struct header *h, json_t *const *records, size_t count)
{
	_cleanup_(freep) const json_t **traffic = NULL;
	size_t found = 0;

	if (traffic_of(records, count, &traffic, &found) < 0)
		return;
	for (size_t i = 0; i < found && i < TRAFFIC_SHOWN; i++) {
		_cleanup_(freep) char *end = traffic_end(traffic[i]);
		_cleanup_(freep) char *amount = traffic_amount(traffic[i]);

		label(h, i == 0 ? "network" : "");
		untrusted(h, end ? end : "?");
		fprintf(h->out, ": %s", amount ? amount : "?");
		end_line(h);
	}
	if (found > TRAFFIC_SHOWN) {
		label(h, "");
		fprintf(h->out, "and %zu more: cordon events --action traffic",
			found - TRAFFIC_SHOWN);
		end_line(h);
	}
}

/* Counts DAC denials, which the kernel's count of denials excludes. */
static unsigned long long count_attempts(json_t *const *records, size_t count)
{
	unsigned long long attempts = 0;

	for (size_t i = 0; i < count; i++)
		if (view_is(records[i], "attempt"))
			attempts += 1 + view_number(records[i], "cordon.repeats");
	return attempts;
}

static void write_refused(struct header *h, const json_t *end, unsigned long long attempts)
{
	unsigned long long denials = view_number(end, "cordon.counters.denials");
	unsigned long long would = view_number(end, "cordon.counters.would_denials");

	if (denials) {
		separate(h);
		style_begin(h->out, h->style, STYLE_BAD);
		fprintf(h->out, "%llu access%s denied", denials, denials == 1 ? "" : "es");
		style_end(h->out, h->style, STYLE_BAD);
	} else if (end && !attempts) {
		quantity(h, "nothing", "refused");
	}
	if (attempts) {
		separate(h);
		style_begin(h->out, h->style, STYLE_BAD);
		fprintf(h->out, "%llu attempt%s denied by the host's permissions", attempts,
			attempts == 1 ? "" : "s");
		style_end(h->out, h->style, STYLE_BAD);
	}
	if (would) {
		separate(h);
		style_begin(h->out, h->style, STYLE_WARN);
		fprintf(h->out, "%llu would be denied if enforced", would);
		style_end(h->out, h->style, STYLE_WARN);
	}
}

static void write_result(struct header *h, const json_t *end, unsigned long long attempts)
{
	_cleanup_(freep) char *limits = outcome_limits(end);
	const struct outcome o = outcome_of(end);
	unsigned long long denials = view_number(end, "cordon.counters.denials");
	/* After denials, exit status 0 does not mean that the execution succeeded. */
	const enum style_role role = end && !o.good	      ? STYLE_BAD
				     : denials + attempts > 0 ? STYLE_WARN
							      : STYLE_GOOD;
	char text[STYLE_QUANTITY_SIZE];

	label(h, "result");
	h->first = false;
	style_begin(h->out, h->style, role);
	if (!end)
		fputs("still running, or its end was not logged", h->out);
	else if (o.phrase)
		fputs(o.phrase, h->out);
	else if (o.signal)
		fprintf(h->out, "killed by %s", strncmp(o.signal, "SIG", 3) == 0 ? "" : "signal ");
	else
		fprintf(h->out, "exit %llu", o.code);
	if (end && !o.phrase && o.signal)
		style_text(h->out, h->style, o.signal);
	style_end(h->out, h->style, role);
	if (end) {
		style_duration(view_number(end, "event.duration"), text);
		fprintf(h->out, " after %s%s", text, o.alone ? ", while no daemon ran" : "");
	}
	write_refused(h, end, attempts);
	end_line(h);
	if (limits) {
		label(h, "stopped by");
		style_text_in(h->out, h->style, STYLE_BAD, "limit reached: ", 0);
		style_text_in(h->out, h->style, STYLE_BAD, limits, 0);
		end_line(h);
	}
}

/* Writes the program with its arguments, if the policy lets cordon record them. */
static void write_command(struct header *h, const json_t *start, const char *program)
{
	const json_t *arguments = view_field(start, "process.args");

	style_text_in(h->out, h->style, STYLE_BOLD, program ? program : "Execution", COMMAND_LIMIT);
	for (size_t i = 1; i < json_array_size(arguments) && i <= COMMAND_ARGUMENTS; i++) {
		const char *text = json_string_value(json_array_get(arguments, i));

		fputc(' ', h->out);
		style_text_in(h->out, h->style, STYLE_BOLD, text ? text : "<code>", COMMAND_LIMIT);
	}
	if (json_array_size(arguments) > COMMAND_ARGUMENTS + 1)
		fputs(" ...", h->out);
	fputs("  ", h->out);
}

void header_write(FILE *out, const struct style *style, json_t *const *records, size_t count)
{
	struct header h = {.out = out, .style = style};
	const json_t *start = NULL, *end = NULL;
	const char *id = count > 0 ? view_text(records[0], "cordon.execution.id") : NULL;
	const char *program, *workdir;
	char time[LINE_TIME_SIZE];

	for (size_t i = 0; i < count; i++) {
		if (view_is(records[i], "execution-start"))
			start = records[i];
		else if (view_is(records[i], "execution-end"))
			end = records[i];
	}
	program = view_text(start, "cordon.execution.program");
	workdir = view_text(start, "cordon.execution.workdir");
	write_command(&h, start, program);
	style_text_in(out, style, STYLE_NAME, id ? id : "?", 0);
	line_time(view_time(start), true, time);
	style_begin(out, style, STYLE_DIM);
	fprintf(out, "  %s\n", time);
	style_end(out, style, STYLE_DIM);
	write_result(&h, end, count_attempts(records, count));
	if (!start) {
		label(&h, "note");
		untrusted(&h, "the record of its start is not in this log");
		end_line(&h);
		return;
	}
	write_policy(&h, start);
	label(&h, "workdir");
	untrusted(&h, workdir ? workdir : "?");
	end_line(&h);
	write_code(&h, start, end);
	write_origin(&h, start);
	write_limits(&h, start);
	write_use(&h, end);
	write_traffic(&h, records, count);
}
