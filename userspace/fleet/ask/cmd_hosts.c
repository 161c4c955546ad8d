/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon-fleet hosts`: shows how complete the store's copy of each host's log is. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "cli/term/exit_status.h"
#include "cli/term/terminal.h"
#include "fleet/ask/fleet_options.h"
#include "fleet/store/fleet_commands.h"

#define NAME_WIDTH  24
#define STATE_WIDTH 15

static const char help[] =
	"usage: cordon-fleet hosts [OPTION]... [--json]\n"
	"\n"
	"Shows for each host how many records the store has without a hole, how many are\n"
	"missing up to the last known one, how many are stored after missing ones, so\n"
	"that no chain covers them, and when the last one arrived.\n"
	"\n"
	"Exit status: 0 if all hosts are complete, 1 if not, 2 if the arguments are wrong\n"
	"or the store cannot be read.\n"
	"\n";

static const char *state_of(const struct completeness *c, const struct completeness_host *host)
{
	enum completeness_condition condition = completeness_condition(c, host);

	if (condition != COMPLETENESS_FINE)
		return completeness_condition_text(condition);
	if (host->missing > 0 || host->waiting > 0)
		return "lacks records";
	if (host->trouble)
		return "does not open";
	if (host->held > 0)
		return "over quota";
	return host->later > 0 ? "behind" : "complete";
}

static void print_host(const struct completeness *c, const struct completeness_host *host,
		       const struct style *style)
{
	bool good = completeness_is_complete(c, host);
	char buffer[COMPLETENESS_NAME_SIZE], heard[16] = "-";
	size_t width = style_text_in(stdout, style, STYLE_NAME, completeness_name(host, buffer),
				     NAME_WIDTH);

	style_pad(stdout, NAME_WIDTH + 2 - width);
	width = style_text_in(stdout, style, good ? STYLE_GOOD : STYLE_BAD, state_of(c, host), 0);
	style_pad(stdout, STATE_WIDTH + 2 - width);
	if (!host->never_heard)
		completeness_age(c->now > host->last_heard ? c->now - host->last_heard : 0, heard);
	printf("%12" PRIu64 "  %10" PRIu64 "  %9" PRIu64 "  %5" PRIu64 "  %4" PRIu64 "  %10s  ",
	       host->contiguous, host->missing, host->waiting, host->apart, host->logs, heard);
	style_text(stdout, style, host->host);
	putchar('\n');
}

static void print_json(const struct completeness *c, const struct completeness_host *host)
{
	char heard[CLOCK_TEXT_SIZE];
	json_t *object;

	clock_format(host->last_heard, heard);
	object = json_pack(
		"{s:s, s:s?, s:s?, s:b, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s?, s:I, s:I,"
		" s:s?}",
		"id", host->host, "name", host->name, "expected", host->expected, "name_shared",
		host->name_shared, "state", state_of(c, host), "contiguous",
		(json_int_t)host->contiguous, "missing", (json_int_t)host->missing, "uncovered",
		(json_int_t)host->waiting, "given_up", (json_int_t)host->gone, "later",
		(json_int_t)host->later, "over_quota", (json_int_t)host->held, "dropped",
		(json_int_t)host->dropped, "trouble", host->trouble, "apart",
		(json_int_t)host->apart, "logs", (json_int_t)host->logs, "last_heard",
		host->never_heard ? NULL : heard);
	json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(object);
}

int fleet_command_hosts(int argc, char **argv)
{
	struct style style = terminal_style(stdout);
	struct fleet_options options;
	struct fleet_view view;
	int status = fleet_options_parse(&options, "hosts", help, argc, argv);

	if (status >= 0)
		return status;
	if (fleet_view_open(&options, &view) < 0)
		return EXIT_USAGE;
	status = EXIT_SUCCESS;
	if (!options.json)
		printf("%-*s  %-*s%14s  %10s  %9s  %5s  %4s  %10s  %s\n", NAME_WIDTH, "HOST",
		       STATE_WIDTH, "STATE", "WITHOUT HOLE", "LACKS", "UNCOVERED", "APART", "LOGS",
		       "HEARD AGO", "ID");
	for (size_t i = 0; i < view.states.count; i++) {
		if (options.json)
			print_json(&view.completeness, &view.states.hosts[i]);
		else
			print_host(&view.completeness, &view.states.hosts[i], &style);
		if (!completeness_is_complete(&view.completeness, &view.states.hosts[i]))
			status = EXIT_FAILURE;
	}
	fleet_view_finish(&view, &options, &style);
	fleet_view_close(&view);
	return terminal_finish(stdout, status);
}
