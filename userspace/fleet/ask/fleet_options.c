/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the options of all queries, opens the store, and prints how complete the result is. */
#include "fleet/ask/fleet_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/moment.h"
#include "cli/term/read_option.h"
#include "fleet/store/fleet_commands.h"

/* Three heartbeat intervals. */
#define SILENT_AFTER_SECONDS	 180
#define SILENT_AFTER_MAX_SECONDS (86400ul * 365)

enum {
	OPTION_STORE = FLEET_OPTION_FIRST,
	OPTION_FLEET,
	OPTION_EXPECT,
	OPTION_SILENT,
	OPTION_JSON,
	OPTION_UTC
};

const struct option fleet_options_table[FLEET_OPTIONS_COUNT] = {
	{"store", required_argument, NULL, OPTION_STORE},
	{"fleet", required_argument, NULL, OPTION_FLEET},
	{"expect", required_argument, NULL, OPTION_EXPECT},
	{"silent-after", required_argument, NULL, OPTION_SILENT},
	{"json", no_argument, NULL, OPTION_JSON},
	{"utc", no_argument, NULL, OPTION_UTC},
};

const char fleet_options_help[] =
	"      --store DIR           the store's directory (" DEFAULT_STORE_DIRECTORY ")\n"
	"      --fleet FILE          configuration of ClickHouse (" CONFIG_FLEET_FILE ")\n"
	"      --expect FILE         expected hosts: on each line an id, then your name for it\n"
	"      --silent-after N      seconds without a record until a host is silent (180)\n"
	"      --json                print JSON lines; the last reports completeness\n"
	"      --utc                 show times in UTC; also applies to options after it\n"
	"  -h, --help                print this help\n";

void fleet_options_init(struct fleet_options *options)
{
	*options = (struct fleet_options){
		.store = DEFAULT_STORE_DIRECTORY,
		.silent_after = SILENT_AFTER_SECONDS * NSEC_PER_SEC,
	};
}

bool fleet_options_number(const char *value, unsigned long most, uint64_t *ret_number)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (value[0] < '1' || value[0] > '9' || *end || errno || number > most)
		return false;
	*ret_number = number;
	return true;
}

static int take_silent_after(struct fleet_options *o, const char *value)
{
	uint64_t seconds;

	if (!fleet_options_number(value, SILENT_AFTER_MAX_SECONDS, &seconds)) {
		message("--silent-after takes a number of seconds, not \"%s\"", value);
		return -EINVAL;
	}
	o->silent_after = seconds * NSEC_PER_SEC;
	return 0;
}

int fleet_options_take(struct fleet_options *o, int option, const char *value)
{
	switch (option) {
	case OPTION_STORE:
		o->store = value;
		return 0;
	case OPTION_FLEET:
		o->fleet = value;
		return 0;
	case OPTION_EXPECT:
		o->expected = value;
		return 0;
	case OPTION_SILENT:
		return take_silent_after(o, value);
	case OPTION_JSON:
		o->json = true;
		return 0;
	case OPTION_UTC:
		moment_utc();
		return 0;
	default:
		return -ENOENT;
	}
}

static int open_clickhouse(const struct fleet_options *options, struct fleet_view *view,
			   struct failure *failure)
{
	const struct config_clickhouse *settings;
	int r = clickhouse_settings_load(options->fleet, &view->fleet, failure);

	settings = r == 0 && view->fleet ? config_fleet_clickhouse(view->fleet) : NULL;
	return settings ? clickhouse_open(settings, NULL, &view->clickhouse, failure) : r;
}

int fleet_view_open(const struct fleet_options *options, struct fleet_view *ret_view)
{
	struct fleet_view view = {
		.completeness = {.now = clock_nsec(CLOCK_REALTIME),
				 .silent_after = options->silent_after},
	};
	struct failure failure = {};
	int r = rows_open(options->store, false, &view.rows, &failure);

	if (r == 0)
		r = open_clickhouse(options, &view, &failure);
	if (r == 0)
		r = host_states_read(view.rows, options->expected, &view.states, &failure);
	if (r < 0) {
		message("%s", failure.text);
		fleet_view_close(&view);
		return r;
	}
	*ret_view = view;
	return 0;
}

void fleet_view_close(struct fleet_view *view)
{
	host_states_free(&view->states);
	if (view->clickhouse)
		clickhouse_close(view->clickhouse);
	view->clickhouse = NULL;
	config_fleet_freep(&view->fleet);
	view->fleet = NULL;
	if (view->rows)
		rows_close(view->rows);
	view->rows = NULL;
}

void fleet_view_finish(const struct fleet_view *view, const struct fleet_options *options,
		       const struct style *style)
{
	_cleanup_(freep) char *text = NULL;
	json_t *object;

	if (options->json) {
		object = json_pack("{s:o}", "completeness",
				   completeness_json(&view->completeness, view->states.hosts,
						     view->states.count));
		json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
		putchar('\n');
		json_decref(object);
		return;
	}
	text = completeness_text(&view->completeness, view->states.hosts, view->states.count);
	style_text(stdout, style, text ? text : "out of memory");
	putchar('\n');
}

int fleet_options_since(const char *value, char ret_since[CLOCK_TEXT_SIZE])
{
	if (moment_parse(value, clock_nsec(CLOCK_REALTIME), ret_since) == 0)
		return 0;
	message("--since takes a time like 2026-11-22T03:11:00Z, 03:11, today or 2h, not \"%s\"",
		value);
	return -EINVAL;
}

int fleet_options_read(struct fleet_options *options, const struct fleet_command *command, int argc,
		       char **argv)
{
	struct option table[1 + FLEET_OPTIONS_COUNT + FLEET_OWN_OPTIONS_MAX + 1] = {
		{"help", no_argument, NULL, 'h'},
	};
	int option, r;

	memcpy(table + 1, fleet_options_table, sizeof(fleet_options_table));
	if (command->count > 0)
		memcpy(table + 1 + FLEET_OPTIONS_COUNT, command->own,
		       command->count * sizeof(command->own[0]));
	while ((option = read_option(argc, argv, "h", table)) >= 0) {
		if (option == 'h') {
			fputs(command->help, stdout);
			if (command->own_help)
				fputs(command->own_help, stdout);
			fputs(fleet_options_help, stdout);
			return EXIT_SUCCESS;
		}
		r = fleet_options_take(options, option, optarg);
		if (r == -ENOENT && command->take)
			r = command->take(command->context, option, optarg);
		if (r == -ENOENT)
			message("see `cordon-fleet %s --help`", command->name);
		if (r < 0)
			return EXIT_USAGE;
	}
	return -1;
}

int fleet_options_only(struct fleet_options *options, const struct fleet_command *command, int argc,
		       char **argv)
{
	int status = fleet_options_read(options, command, argc, argv);

	if (status >= 0 || optind == argc)
		return status;
	message("%s: unexpected argument \"%s\"; see `cordon-fleet %s --help`", command->name,
		argv[optind], command->name);
	return EXIT_USAGE;
}

int fleet_options_parse(struct fleet_options *options, const char *name, const char *help, int argc,
			char **argv)
{
	const struct fleet_command command = {.name = name, .help = help};

	fleet_options_init(options);
	return fleet_options_only(options, &command, argc, argv);
}
