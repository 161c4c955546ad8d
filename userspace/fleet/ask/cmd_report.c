/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon-fleet report`: counts the most frequent decisions on all hosts. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/moment.h"
#include "cli/term/terminal.h"
#include "fleet/ask/decisions.h"
#include "fleet/ask/fleet_options.h"
#include "fleet/store/fleet_commands.h"

#define LINES	     20
#define LINES_MAX    100000
#define ACTION_WIDTH 18
#define POLICY_WIDTH 20
#define RULE_WIDTH   32

static const char help[] =
	"usage: cordon-fleet report [OPTION]... [--json]\n"
	"\n"
	"Counts denied accesses, and accesses that would have been denied, by policy,\n"
	"rule, operation and class of path, in whole hours; then prints how complete the\n"
	"result is.\n"
	"\n"
	"Exit status: 0 if there was any, 1 if none, 2 if the arguments are wrong or the\n"
	"store cannot be read.\n"
	"\n"
	"      --host H              on this host: its name, or a prefix of its id\n"
	"      --since T             from the whole hour that contains this time (24h)\n"
	"      --lines N             only the N highest counts (20)\n"
	"      --all                 also logged accesses that were allowed\n";

enum { OPTION_HOST = 1024, OPTION_SINCE, OPTION_LINES, OPTION_ALL };

struct command {
	struct fleet_options fleet;
	struct decisions_question question;
	char since[CLOCK_TEXT_SIZE];
	struct style style;
	uint64_t shown;
};

static void show_json(const struct decision *d)
{
	json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I}", "action", d->action,
				   "policy", d->policy, "rule", d->rule, "operation", d->operation,
				   "template", d->template, "count", (json_int_t)d->count, "hosts",
				   (json_int_t)d->hosts);

	json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(object);
}

static void show_column(const struct command *c, const char *text, size_t width)
{
	size_t used = style_text_in(stdout, &c->style, STYLE_PLAIN, text[0] ? text : "-", width);

	style_pad(stdout, width + 2 - used);
}

static void show(void *data, const struct decision *d)
{
	struct command *c = data;

	c->shown++;
	if (c->fleet.json) {
		show_json(d);
		return;
	}
	if (c->shown == 1)
		printf("%10s  %6s  %-*s  %-*s  %-*s  %s\n", "COUNT", "HOSTS", ACTION_WIDTH,
		       "ACTION", POLICY_WIDTH, "POLICY", RULE_WIDTH, "RULE", "WHAT");
	printf("%10" PRIu64 "  %6" PRIu64 "  ", d->count, d->hosts);
	show_column(c, d->action, ACTION_WIDTH);
	show_column(c, d->policy, POLICY_WIDTH);
	show_column(c, d->rule, RULE_WIDTH);
	style_text(stdout, &c->style, d->operation);
	putchar(' ');
	style_text(stdout, &c->style, d->template);
	putchar('\n');
}

static int report(struct command *c)
{
	uint64_t uncounted = 0;
	struct failure failure = {};
	struct fleet_view view;
	int r;

	if (fleet_view_open(&c->fleet, &view) < 0)
		return EXIT_USAGE;
	r = decisions_read(view.rows, view.clickhouse, &c->question, show, c, &uncounted, &failure);
	if (r < 0)
		message("%s", failure.text);
	else
		fleet_view_finish(&view, &c->fleet, &c->style);
	if (r == 0 && uncounted > 0)
		message("%" PRIu64 " decisions are not counted yet: their rows wait for ClickHouse",
			uncounted);
	fleet_view_close(&view);
	if (r < 0)
		return EXIT_USAGE;
	return terminal_finish(stdout, c->shown > 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static int take_lines(struct command *c, const char *value)
{
	if (fleet_options_number(value, LINES_MAX, &c->question.limit))
		return 0;
	message("--lines takes a number from 1 to %d, not \"%s\"", LINES_MAX, value);
	return -EINVAL;
}

static int take_option(void *command, int option, const char *value)
{
	struct command *c = command;

	switch (option) {
	case OPTION_HOST:
		c->question.host = value;
		return 0;
	case OPTION_SINCE:
		return fleet_options_since(value, c->since);
	case OPTION_LINES:
		return take_lines(c, value);
	case OPTION_ALL:
		c->question.all = true;
		return 0;
	default:
		return -ENOENT;
	}
}

static int parse(int argc, char **argv, struct command *c)
{
	static const struct option own[] = {
		{"host", required_argument, NULL, OPTION_HOST},
		{"since", required_argument, NULL, OPTION_SINCE},
		{"lines", required_argument, NULL, OPTION_LINES},
		{"all", no_argument, NULL, OPTION_ALL},
	};
	const struct fleet_command command = {"report", help, own, ARRAY_SIZE(own), take_option, c};
	int status = fleet_options_read(&c->fleet, &command, argc, argv);

	if (status >= 0 || optind == argc)
		return status;
	message("report: unexpected argument \"%s\"; see `cordon-fleet report --help`",
		argv[optind]);
	return EXIT_USAGE;
}

int fleet_command_report(int argc, char **argv)
{
	struct command c = {.style = terminal_style(stdout), .question = {.limit = LINES}};
	int status;

	fleet_options_init(&c.fleet);
	(void)moment_parse("24h", clock_nsec(CLOCK_REALTIME), c.since);
	c.question.since = c.since;
	status = parse(argc, argv, &c);
	return status >= 0 ? status : report(&c);
}
