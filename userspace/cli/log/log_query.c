/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon log query`: the records that somebody looks for. */
#include <signal.h>
#include <string.h>

#include "cli/log/find.h"
#include "cli/log/log_command.h"
#include "cli/term/message.h"
#include "cli/log/query_options.h"
#include "cli/term/moment.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "insight/story/line.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon log query [OPTION]... [--json]\n"
	      "\n"
	      "Shows the records that answer a question, one a line; with --json as the log has\n"
	      "them. Each is checked against the one before it. Exits with 0 if any was found,\n"
	      "1 if none or some were damaged, 2 if the question is wrong.\n"
	      "\n",
	      out);
	fputs(query_options_help, out);
	fputs(query_options_log_help, out);
	fputs("      --utc                 times in UTC, not local ones; put it before\n"
	      "                            times that are given\n"
	      "      --json                the records, one JSON object a line\n"
	      "  -h, --help                this text\n",
	      out);
}

struct output {
	struct style style;
	bool json;
	struct line_day day; /* of the line before */
	unsigned long long count;
};

static int show(void *data, json_t *record)
{
	struct output *o = data;

	o->count++;
	if (o->json) {
		json_dumpf(record, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
		putchar('\n');
	} else {
		line_day(stdout, &o->style, &o->day, record);
		line_write(stdout, &o->style, record);
	}
	/* Whoever reads has gone. */
	return ferror(stdout) ? -ECANCELED : 0;
}

static int query(const struct query_options *options, struct output *output)
{
	int status = EXIT_FAILURE;
	int r = find_records(options->directory, &options->query, &options->search, show, output,
			     &status);

	if (r < 0 && r != -ECANCELED)
		return 2;
	/* Whoever reads has seen enough. */
	if (r == -ECANCELED)
		status = EXIT_SUCCESS;
	if (r == 0 && output->count == 0)
		status = EXIT_FAILURE;
	return terminal_finish(stdout, status);
}

int log_command_query(int argc, char **argv)
{
	struct option table[QUERY_OPTIONS_COUNT + 4] = {
		{"json", no_argument, NULL, 'j'},
		{"utc", no_argument, NULL, 'u'},
		{"help", no_argument, NULL, 'h'},
	};
	struct output output = {.style = terminal_style(stdout)};
	struct query_options options;
	int option, status = -1;

	memcpy(table + 3, query_options_table, sizeof(query_options_table));
	query_options_init(&options);
	while (status < 0 && (option = read_option(argc, argv, "h", table)) >= 0) {
		if (option == 'j') {
			output.json = true;
		} else if (option == 'u') {
			moment_utc();
		} else if (option == 'h') {
			print_help(stdout);
			status = EXIT_SUCCESS;
		} else if (option == '?') {
			message("see `cordon log query --help`");
			status = 2;
		} else if (query_options_take(&options, option, optarg) < 0) {
			status = 2;
		}
	}
	if (status < 0 && optind < argc) {
		message("log query: unexpected argument \"%s\"; see `cordon log query --help`",
			argv[optind]);
		status = 2;
	}
	if (status < 0) {
		status = query(&options, &output);
	}
	query_options_release(&options);
	return status;
}
