/* SPDX-License-Identifier: Apache-2.0 */
/* What `cordon approve` and `cordon approvals` share: asking the daemon, and showing an entry. */
#include "cli/host/decide.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/host/approval_rules.h"
#include "cli/term/message.h"

int decide_connect(int *ret_socket)
{
	struct failure failure = {};
	int r = client_connect(ret_socket, &failure);

	if (r == -ENOENT || r == -ECONNREFUSED)
		message("no daemon runs; approvals are kept by one that stays: `cordon daemon "
			"--require-approval`");
	else if (r < 0)
		message("%s", failure.text);
	return r;
}

static const char *text_of(const json_t *entry, const char *key)
{
	const char *text = json_string_value(json_object_get(entry, key));

	return text ? text : "";
}

static void write_time(FILE *out, const char *what, const json_t *entry, const char *key)
{
	json_int_t when = json_integer_value(json_object_get(entry, key));
	char text[CLOCK_TEXT_SIZE];

	if (when <= 0)
		return;
	clock_format((uint64_t)when, text);
	fprintf(out, "  %s %.19sZ", what, text);
}

static void write_uid(FILE *out, const json_t *entry, const char *key)
{
	fprintf(out, " by user %" JSON_INTEGER_FORMAT,
		json_integer_value(json_object_get(entry, key)));
}

/* As a witness of the daemon: "files read /x, allowed by ..."; a setting has no such words. */
static bool is_rule(const char *line)
{
	static const char *const sections[] = {"files ", "exec ",	  "network ",
					       "unix ",	 "this lets it ", "cannot be compared "};

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (strncmp(line, sections[i], strlen(sections[i])) == 0)
			return true;
	return false;
}

void decide_write_entry(FILE *out, const struct style *style, const json_t *entries,
			const json_t *entry)
{
	const json_t *witnesses = json_object_get(entry, "witnesses"), *line;
	const char *state = text_of(entry, "state");
	bool waits = strcmp(state, "waiting") == 0, told;
	bool first = json_is_null(json_object_get(entry, "base"));
	size_t i;

	fprintf(out, "%.16s  ", text_of(entry, "digest"));
	style_text_in(out, style, waits ? STYLE_WARN : STYLE_PLAIN, state, 0);
	fputs("  ", out);
	style_text_in(out, style, STYLE_NAME, text_of(entry, "policy"), 0);
	fputs("  ", out);
	style_text(out, style, text_of(entry, "file"));
	putc('\n', out);
	write_time(out, "asked", entry, "asked");
	write_uid(out, entry, "asked_by");
	if (json_integer_value(json_object_get(entry, "decided")) > 0) {
		write_time(out, "decided", entry, "decided");
		write_uid(out, entry, "decided_by");
	}
	write_time(out, "expires", entry, "expires");
	putc('\n', out);
	if (*text_of(entry, "reason")) {
		fputs("  reason: ", out);
		style_text(out, style, text_of(entry, "reason"));
		putc('\n', out);
	}
	if (*text_of(entry, "use")) {
		fputs("  used by: ", out);
		style_text(out, style, text_of(entry, "use"));
		putc('\n', out);
	}
	if (first)
		fputs("  the first of its name\n", out);
	told = waits && entries && approval_rules_write(out, style, entries, entry);
	json_array_foreach(witnesses, i, line) {
		const char *text = json_string_value(line);

		if (!text || (told && is_rule(text)))
			continue;
		fputs(first ? "  allows: " : "  wider: ", out);
		style_text(out, style, text);
		putc('\n', out);
	}
}

int decide_ask(const struct client_decide *decide, bool json)
{
	_cleanup_(json_decrefp) json_t *reply = NULL;
	_cleanup_(freep) char *text = NULL;
	_cleanup_(closep) int socket = -1;
	struct failure failure = {};
	const json_t *entry;
	int r;

	if (decide_connect(&socket) < 0)
		return DECIDE_FAILED;
	r = client_decide(socket, decide, &reply, &text, &failure);
	if (r < 0) {
		message("%s", text && *text ? text : failure.text);
		return r == -ENOENT ? DECIDE_NOT_FOUND : DECIDE_FAILED;
	}
	entry = json_object_get(reply, "approval");
	if (json) {
		(void)json_dumpf(entry, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		printf("policy %s (%.16s) is %s\n", text_of(entry, "policy"),
		       text_of(entry, "digest"), text_of(entry, "state"));
	}
	return DECIDE_DONE;
}
