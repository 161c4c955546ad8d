/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon-fleet ask`: the records of all hosts that answer a question. */
#include <inttypes.h>
#include <string.h>

#include "cli/log/query_options.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "fleet/ask/fleet_options.h"
#include "fleet/ask/fleet_search.h"
#include "fleet/store/fleet_commands.h"
#include "insight/story/line.h"

#define NAME_WIDTH 16

static const char help[] =
	"usage: cordon-fleet ask [OPTION]... [--json]\n"
	"\n"
	"Shows the records of all hosts that answer a question, in the order of their times, as `cordon log\n"
	"query` does for one; then how complete that is. A '?' stands before records that no chain covers yet,\n"
	"since only chosen ones came ahead. Exits with 0 if any was found, 1 if none, 2 if the question is wrong\n"
	"or the store cannot be read.\n"
	"\n"
	"      --host H              of this host: its name, or how its id begins\n";

enum { OPTION_HOST = 1024 };

struct output {
	struct style style;
	bool json;
	struct line_day day; /* of the line before */
};

static void show_json(const struct fleet_found *found)
{
	json_t *object = json_pack("{s:{s:s, s:s?}, s:s, s:b, s:O}", "host", "id", found->host,
				   "name", found->name, "log", found->log, "covered",
				   found->covered, "record", found->record);

	json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(object);
}

static int show(void *data, const struct fleet_found *found)
{
	struct completeness_host host = {.host = (char *)found->host, .name = (char *)found->name};
	struct output *o = data;
	char buffer[16];
	size_t width;

	if (o->json) {
		show_json(found);
	} else {
		line_day(stdout, &o->style, &o->day, found->record);
		putchar(found->covered ? ' ' : '?');
		width = style_text_in(stdout, &o->style, STYLE_NAME,
				      completeness_name(&host, buffer), NAME_WIDTH);
		style_pad(stdout, NAME_WIDTH + 1 - width);
		line_write(stdout, &o->style, found->record);
	}
	/* Whoever reads has gone. */
	return ferror(stdout) ? -ECANCELED : 0;
}

static int ask(const struct fleet_options *options, const struct query_options *query,
	       const char *host)
{
	struct fleet_search search = {
		.directory = options->store,
		.host = host,
		.query = &query->query,
		.no_index = query->search.no_index,
		.limit = query->search.limit,
	};
	struct output output = {.style = terminal_style(stdout), .json = options->json};
	struct fleet_search_result result = {};
	struct failure failure = {};
	struct fleet_view view;
	int r;

	if (fleet_view_open(options, &view) < 0)
		return EXIT_USAGE;
	r = fleet_search_run(view.rows, view.clickhouse, &search, show, &output, &result, &failure);
	if (r < 0 && r != -ECANCELED)
		message("%s", failure.text[0] ? failure.text : "out of memory");
	if (r == 0)
		fleet_view_finish(&view, options, &output.style);
	if (result.lost > 0)
		message("%" PRIu64
			" records are not in the logs where the rows say: run `cordon log verify --log` on the logs in %s",
			result.lost, options->store);
	fleet_view_close(&view);
	if (r < 0 && r != -ECANCELED)
		return EXIT_USAGE;
	return terminal_finish(stdout,
			       result.found > 0 && result.lost == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static int take_option(struct fleet_options *fleet, struct query_options *query, const char **host,
		       int option, const char *value)
{
	int r;

	if (option == OPTION_HOST) {
		*host = value;
		return 0;
	}
	r = fleet_options_take(fleet, option, value);
	if (r == -ENOENT)
		r = query_options_take(query, option, value);
	if (r == -ENOENT)
		message("see `cordon-fleet ask --help`");
	return r;
}

static int parse(int argc, char **argv, struct fleet_options *fleet, struct query_options *query,
		 const char **host)
{
	struct option table[FLEET_OPTIONS_COUNT + QUERY_OPTIONS_COUNT + 3] = {
		{"help", no_argument, NULL, 'h'},
		{"host", required_argument, NULL, OPTION_HOST},
	};
	int option;

	memcpy(table + 2, fleet_options_table, sizeof(fleet_options_table));
	/* All but --log: which logs there are, the store knows. */
	memcpy(table + 2 + FLEET_OPTIONS_COUNT, query_options_table,
	       sizeof(query_options_table[0]) * (QUERY_OPTIONS_COUNT - 1));
	while ((option = read_option(argc, argv, "h", table)) >= 0) {
		if (option == 'h') {
			fputs(help, stdout);
			fputs(query_options_help, stdout);
			fputs(fleet_options_help, stdout);
			return EXIT_SUCCESS;
		}
		if (take_option(fleet, query, host, option, optarg) < 0)
			return EXIT_USAGE;
	}
	if (optind == argc)
		return -1;
	message("ask: unexpected argument \"%s\"; see `cordon-fleet ask --help`", argv[optind]);
	return EXIT_USAGE;
}

int fleet_command_ask(int argc, char **argv)
{
	struct query_options query;
	struct fleet_options fleet;
	const char *host = NULL;
	int status;

	query_options_init(&query);
	fleet_options_init(&fleet);
	status = parse(argc, argv, &fleet, &query, &host);
	if (status < 0)
		status = ask(&fleet, &query, host);
	query_options_release(&query);
	return status;
}
