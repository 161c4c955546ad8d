/* SPDX-License-Identifier: Apache-2.0 */
/* One line of text per record. */
#include "insight/story/line.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "insight/story/denials.h"
#include "insight/story/traffic.h"
#include "insight/text/view.h"

#define ACTION_WIDTH  10
#define PROCESS_WIDTH 20

static const struct {
	const char *action, *label;
	enum style_role role;
} labels[] = {
	{"execution-start", "start", STYLE_GOOD},
	{"execution-end", "end", STYLE_BOLD},
	{"policy-change", "policy", STYLE_NAME},
	{"approval", "approval", STYLE_NAME},
	{"execution-refused", "REFUSED", STYLE_BAD},
	{"process-exec", "exec", STYLE_PLAIN},
	{"process-exit", "exit", STYLE_DIM},
	{"denial", "DENIED", STYLE_BAD},
	{"would-deny", "would deny", STYLE_WARN},
	{"open", "open", STYLE_PLAIN},
	{"attempt", "ATTEMPT", STYLE_BAD},
	{"connect", "connect", STYLE_PLAIN},
	{"gap", "GAP", STYLE_WARN},
	{"resolve", "resolve", STYLE_PLAIN},
	{"change", "change", STYLE_PLAIN},
	{"agent-heartbeat", "heartbeat", STYLE_DIM},
	{"traffic", "traffic", STYLE_PLAIN},
};

void line_time(unsigned long long realtime_nsec, bool date, char text[LINE_TIME_SIZE])
{
	time_t seconds = (time_t)(realtime_nsec / NSEC_PER_SEC);
	size_t length;
	struct tm tm;

	text[0] = '\0';
	if (realtime_nsec == 0 || !localtime_r(&seconds, &tm))
		return;
	length = strftime(text, LINE_TIME_SIZE, date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &tm);
	length += (size_t)snprintf(text + length, LINE_TIME_SIZE - length, ".%03llu",
				   realtime_nsec % NSEC_PER_SEC / NSEC_PER_MSEC);
	if (date)
		strftime(text + length, LINE_TIME_SIZE - length, " %Z", &tm);
}

void line_day(FILE *out, const struct style *style, struct line_day *day, const json_t *record)
{
	time_t seconds = (time_t)(view_time(record) / NSEC_PER_SEC);
	char text[sizeof(day->text)];
	struct tm tm;

	if (seconds == 0 || !localtime_r(&seconds, &tm) ||
	    strftime(text, sizeof(text), "%Y-%m-%d %Z", &tm) == 0 || strcmp(text, day->text) == 0)
		return;
	memcpy(day->text, text, sizeof(text));
	style_text_in(out, style, STYLE_BOLD, text, 0);
	fputc('\n', out);
}

static void write_action(FILE *out, const struct style *style, const json_t *record)
{
	const char *action = view_text(record, "event.action");
	const char *label = action ? action : "?";
	enum style_role role = STYLE_DIM;
	size_t columns;

	for (size_t i = 0; action && i < ARRAY_SIZE(labels); i++)
		if (strcmp(labels[i].action, action) == 0) {
			label = labels[i].label;
			role = labels[i].role;
		}
	columns = style_text_in(out, style, role, label, 0);
	style_pad(out, columns < ACTION_WIDTH ? ACTION_WIDTH - columns + 2 : 2);
}

static void write_process(FILE *out, const struct style *style, const json_t *record)
{
	const char *name = view_text(record, "process.name");
	size_t columns = 0;

	if (view_has_number(record, "process.pid")) {
		columns = style_text(out, style, name ? name : "?");
		columns += (size_t)fprintf(out, "[%llu]",
					   (unsigned long long)view_number(record, "process.pid"));
	}
	style_pad(out, columns < PROCESS_WIDTH ? PROCESS_WIDTH - columns + 2 : 2);
}

static void write_denial(FILE *out, const struct style *style, const json_t *record)
{
	_cleanup_(freep) char *phrase = denial_phrase(record);
	const char *file = view_text(record, "cordon.rule.file");
	uint64_t repeats = view_number(record, "cordon.repeats");

	style_text(out, style, phrase ? phrase : "?");
	style_begin(out, style, STYLE_DIM);
	if (file) {
		fputs("  ", out);
		style_text(out, style, file);
		fprintf(out, ":%llu", (unsigned long long)view_number(record, "cordon.rule.line"));
	} else {
		fprintf(out, "  %s", denial_reason_phrase(record));
	}
	if (repeats > 0)
		fprintf(out, "  and %llu more like it", (unsigned long long)repeats);
	style_end(out, style, STYLE_DIM);
}

static void write_status(FILE *out, const struct style *style, const json_t *record,
			 const char *where)
{
	char name[64];
	const char *signal_name;

	snprintf(name, sizeof(name), "%s.signal", where);
	signal_name = view_text(record, name);
	snprintf(name, sizeof(name), "%s.exit_code", where);
	if (signal_name) {
		fputs("killed by ", out);
		style_text(out, style, signal_name);
	} else if (view_has_number(record, name)) {
		fprintf(out, "exit %llu", (unsigned long long)view_number(record, name));
	}
}

static void write_start(FILE *out, const struct style *style, const json_t *record)
{
	const char *program = view_text(record, "cordon.execution.program");
	const char *policy = view_text(record, "cordon.policy.name");
	const char *workdir = view_text(record, "cordon.execution.workdir");
	const char *mode = view_text(record, "cordon.execution.mode");

	style_text_in(out, style, STYLE_BOLD, program ? program : "?", 0);
	fputs(" under ", out);
	style_text(out, style, policy ? policy : "?");
	if (mode && strcmp(mode, "observe") == 0)
		fputs(" (observing)", out);
	fputs(" in ", out);
	style_text(out, style, workdir ? workdir : "?");
}

static void write_end(FILE *out, const struct style *style, const json_t *record)
{
	const char *cause = view_text(record, "cordon.end.cause");
	unsigned long long denials = view_number(record, "cordon.counters.denials");
	unsigned long long attempts = view_number(record, "cordon.counters.attempts");
	unsigned long long killed = view_number(record, "cordon.end.killed_tasks");
	char duration[STYLE_QUANTITY_SIZE];

	if (cause && strcmp(cause, "exited") != 0 && strcmp(cause, "signaled") != 0) {
		style_text(out, style, cause);
		fputs(", ", out);
	}
	write_status(out, style, record, "cordon.end");
	style_duration(view_number(record, "event.duration"), duration);
	fprintf(out, " after %s, %llu refused", duration, denials);
	if (attempts)
		fprintf(out, ", %llu by the host's permissions", attempts);
	if (killed)
		fprintf(out, ", %llu killed at the end", killed);
}

static void write_exec(FILE *out, const struct style *style, const json_t *record)
{
	const char *executable = view_text(record, "process.executable");
	unsigned long long count = view_number(record, "process.args_count");

	style_text(out, style, executable ? executable : "?");
	/* argv[0] is the program's name. */
	if (count > 1) {
		style_begin(out, style, STYLE_DIM);
		fprintf(out, "  %llu argument%s", count - 1, count == 2 ? "" : "s");
		style_end(out, style, STYLE_DIM);
	}
}

static void write_gap(FILE *out, const struct style *style, const json_t *record)
{
	const char *of = view_text(record, "cordon.gap.of");

	if (view_has_number(record, "cordon.gap.missing"))
		fprintf(out, "%llu ",
			(unsigned long long)view_number(record, "cordon.gap.missing"));
	else
		fputs("earlier ", out);
	style_text(out, style, of ? of : "?");
	fputs(" missing", out);
}

static void write_resolve(FILE *out, const struct style *style, const json_t *record)
{
	const char *name = view_text(record, "dns.question.name");
	const json_t *address;
	size_t i;

	style_text(out, style, name ? name : "?");
	json_array_foreach(view_field(record, "dns.resolved_ip"), i, address) {
		fputs(i == 0 ? ": " : ", ", out);
		style_text(out, style, json_string_value(address));
	}
}

static void write_traffic(FILE *out, const struct style *style, const json_t *record)
{
	_cleanup_(freep) char *end = traffic_end(record);
	_cleanup_(freep) char *amount = traffic_amount(record);

	style_text(out, style, end ? end : "?");
	fprintf(out, ": %s", amount ? amount : "?");
}

/*
 * Writes an operation that creates or deletes names; a rename with both names and the effect on
 * each.
 */
static void write_change(FILE *out, const struct style *style, const json_t *record)
{
	const char *operation = view_text(record, "cordon.operation");
	const char *text = view_text(record, "cordon.object.text");
	const json_t *rights = view_field(record, "cordon.rights"), *right;
	bool moves = operation && strcmp(operation, "rename") == 0;
	bool made = false, gone = false;
	size_t i;

	json_array_foreach(rights, i, right) {
		const char *name = json_string_value(right);

		made |= name && strcmp(name, "create") == 0;
		gone |= name && strcmp(name, "delete") == 0;
	}
	style_text(out, style, operation ? operation : "?");
	fputs(moves && gone && !made ? " from " : moves && made && !gone ? " to " : " ", out);
	style_text(out, style, text ? text : "?");
}

static void write_policy_change(FILE *out, const struct style *style, const json_t *record)
{
	const char *before = view_text(record, "cordon.previous_policy.name");
	const char *after = view_text(record, "cordon.policy.name");
	const char *reason = view_text(record, "cordon.change.reason");

	style_text(out, style, before ? before : "?");
	fputs(" -> ", out);
	style_text(out, style, after ? after : "?");
	if (reason) {
		fputs(", wider: ", out);
		style_text(out, style, reason);
	}
}

static void write_approval(FILE *out, const struct style *style, const json_t *record)
{
	const char *decision = view_text(record, "cordon.approval.decision");
	const char *subject = view_text(record, "cordon.approval.subject");
	const char *reason = view_text(record, "cordon.approval.reason");

	style_text(out, style, decision ? decision : "?");
	fputs(": ", out);
	style_text(out, style, subject ? subject : "?");
	fprintf(out, ", by user %llu",
		(unsigned long long)view_number(record, "cordon.approval.uid"));
	if (reason) {
		fputs(", ", out);
		style_text(out, style, reason);
	}
}

static void write_heartbeat(FILE *out, const json_t *record)
{
	uint64_t live = view_number(record, "cordon.agent.executions");

	fprintf(out, "%" PRIu64 " execution%s live, %" PRIu64 " denied accesses since the start",
		live, live == 1 ? "" : "s", view_number(record, "cordon.agent.totals.denials"));
}

static void write_detail(FILE *out, const struct style *style, const json_t *record)
{
	const char *text;

	if (view_damage(record))
		style_text_in(out, style, STYLE_BAD, "DAMAGED  ", 0);
	if (view_is_denial(record)) {
		write_denial(out, style, record);
	} else if (view_is(record, "process-exec")) {
		write_exec(out, style, record);
	} else if (view_is(record, "process-exit")) {
		write_status(out, style, record, "process");
	} else if (view_is(record, "execution-start")) {
		write_start(out, style, record);
	} else if (view_is(record, "execution-end")) {
		write_end(out, style, record);
	} else if (view_is(record, "policy-change")) {
		write_policy_change(out, style, record);
	} else if (view_is(record, "approval")) {
		write_approval(out, style, record);
	} else if (view_is(record, "gap")) {
		write_gap(out, style, record);
	} else if (view_is(record, "resolve")) {
		write_resolve(out, style, record);
	} else if (view_is(record, "traffic")) {
		write_traffic(out, style, record);
	} else if (view_is(record, "change")) {
		write_change(out, style, record);
	} else if (view_is(record, "agent-heartbeat")) {
		write_heartbeat(out, record);
	} else {
		const char *domain = view_text(record, "destination.domain");

		text = view_text(record, "error.message");
		if (!text)
			text = view_text(record, "cordon.object.text");
		style_text(out, style, text ? text : "");
		if (domain) {
			fputs(", which was ", out);
			style_text(out, style, domain);
		}
	}
}

static void write_id(FILE *out, const struct style *style, const json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");
	char shown[LINE_ID_WIDTH + 1];
	size_t columns;

	snprintf(shown, sizeof(shown), "%s", id ? uuid_end(id) : "-");
	/* An id is hexadecimal, unless the log was modified. */
	columns = style_text_in(out, style, STYLE_NAME, shown, LINE_ID_WIDTH);
	style_pad(out, (columns < LINE_ID_WIDTH ? LINE_ID_WIDTH - columns : 0) + 2);
}

void line_write(FILE *out, const struct style *style, const json_t *record)
{
	char time[LINE_TIME_SIZE];

	line_time(view_time(record), false, time);
	style_begin(out, style, STYLE_DIM);
	fprintf(out, "%-12s  ", time);
	style_end(out, style, STYLE_DIM);
	write_id(out, style, record);
	write_action(out, style, record);
	write_process(out, style, record);
	write_detail(out, style, record);
	fputc('\n', out);
}
