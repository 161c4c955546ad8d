/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon-fleet ask`: shows the records of all hosts that match a query. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "cli/log/query_options.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/terminal.h"
#include "fleet/ask/fleet_options.h"
#include "fleet/ask/fleet_search.h"
#include "fleet/ask/privacy.h"
#include "fleet/store/fleet_commands.h"
#include "insight/story/line.h"

#define NAME_WIDTH 16

static const char help[] =
	"usage: cordon-fleet ask [OPTION]... [--json]\n"
	"\n"
	"Shows the records of all hosts that match a query, ordered by time, then how\n"
	"complete the result is. The filters are those of `cordon log query`. Urgent\n"
	"records arrive before a backlog: until a chain covers them, a '?' marks them.\n"
	"\n"
	"Exit status: 0 if any was found, 1 if none, 2 if the query is wrong or the store\n"
	"cannot be read.\n"
	"\n"
	"      --host H              of this host: its name, or a prefix of its id\n"
	"      --privacy DIR         keys of tenants; their records show pseudonyms instead\n"
	"                            of names (" FLEET_PRIVACY_DIRECTORY ")\n"
	"      --names               show names in any case\n";

enum { OPTION_HOST = 1024, OPTION_PRIVACY, OPTION_NAMES };
#define OWN_OPTIONS 3

struct ask {
	struct fleet_options fleet;
	struct query_options query;
	const char *host;
	const char *privacy; /* NULL: --names was given */
};

struct output {
	struct style style;
	bool json;
	struct fleet_privacy *privacy; /* NULL: --names was given */
	const struct host_states *states;
	struct line_day day; /* day of the last record shown */
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
	struct completeness_host unknown = {.host = (char *)found->host,
					    .name = (char *)found->name};
	struct output *o = data;
	const struct completeness_host *host = host_states_find(o->states, found->host);
	char buffer[COMPLETENESS_NAME_SIZE];
	size_t width;
	int r = o->privacy
			? fleet_privacy_record(o->privacy, found->host, found->log, found->record)
			: 0;

	if (r < 0)
		return r;
	if (o->json) {
		show_json(found);
	} else {
		line_day(stdout, &o->style, &o->day, found->record);
		putchar(found->covered ? ' ' : '?');
		width = style_text_in(stdout, &o->style, STYLE_NAME,
				      completeness_name(host ? host : &unknown, buffer),
				      NAME_WIDTH);
		style_pad(stdout, NAME_WIDTH + 1 - width);
		line_write(stdout, &o->style, found->record);
	}
	/* The reader closed the pipe. */
	return ferror(stdout) ? -ECANCELED : 0;
}

static int search(const struct ask *a, struct fleet_view *view, struct output *output,
		  struct fleet_search_result *result, struct failure *failure)
{
	const struct fleet_search search = {
		.directory = a->fleet.store,
		.host = a->host,
		.query = &a->query.query,
		.no_index = a->query.search.no_index,
		.limit = a->query.search.limit,
	};
	_cleanup_(fleet_privacy_closep) struct fleet_privacy *privacy = NULL;
	int r = a->privacy ? fleet_privacy_open(a->privacy, a->fleet.store, view->rows, &privacy,
						failure)
			   : 0;

	output->privacy = privacy;
	output->states = &view->states;
	if (r == 0)
		r = fleet_search_run(view->rows, view->clickhouse, &search, show, output, result,
				     failure);
	return r;
}

static int ask(const struct ask *a)
{
	struct output output = {.style = terminal_style(stdout), .json = a->fleet.json};
	struct fleet_search_result result = {};
	struct failure failure = {};
	struct fleet_view view;
	int r;

	if (fleet_view_open(&a->fleet, &view) < 0)
		return EXIT_USAGE;
	r = search(a, &view, &output, &result, &failure);
	if (r < 0 && r != -ECANCELED)
		message("%s", failure.text[0] ? failure.text : "out of memory");
	if (r == 0)
		fleet_view_finish(&view, &a->fleet, &output.style);
	if (result.lost > 0)
		message("%" PRIu64
			" records are not at their indexed places in the logs: run `cordon log "
			"verify --log` on the logs in %s",
			result.lost, a->fleet.store);
	fleet_view_close(&view);
	if (r < 0 && r != -ECANCELED)
		return EXIT_USAGE;
	return terminal_finish(stdout,
			       result.found > 0 && result.lost == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static int take_option(void *context, int option, const char *value)
{
	struct ask *a = context;

	switch (option) {
	case OPTION_HOST:
		a->host = value;
		return 0;
	case OPTION_PRIVACY:
		a->privacy = value;
		return 0;
	case OPTION_NAMES:
		a->privacy = NULL;
		return 0;
	default:
		return query_options_take(&a->query, option, value);
	}
}

static int parse(int argc, char **argv, struct ask *a)
{
	/* All query options except the last, --log: the store knows its logs. */
	struct option own[OWN_OPTIONS + QUERY_OPTIONS_COUNT - 1] = {
		{"host", required_argument, NULL, OPTION_HOST},
		{"privacy", required_argument, NULL, OPTION_PRIVACY},
		{"names", no_argument, NULL, OPTION_NAMES},
	};
	const struct fleet_command command = {
		"ask", help, own, ARRAY_SIZE(own), take_option, a, query_options_help,
	};

	static_assert(ARRAY_SIZE(own) <= FLEET_OWN_OPTIONS_MAX, "as many as are read");
	memcpy(own + OWN_OPTIONS, query_options_table,
	       (QUERY_OPTIONS_COUNT - 1) * sizeof(query_options_table[0]));
	return fleet_options_only(&a->fleet, &command, argc, argv);
}

int fleet_command_ask(int argc, char **argv)
{
	struct ask a = {.privacy = FLEET_PRIVACY_DIRECTORY};
	int status;

	query_options_init(&a.query);
	fleet_options_init(&a.fleet);
	status = parse(argc, argv, &a);
	if (status < 0)
		status = ask(&a);
	query_options_release(&a.query);
	return status;
}
