/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon log export`: records for other systems. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/log/find.h"
#include "cli/log/log_command.h"
#include "cli/term/message.h"
#include "cli/log/query_options.h"
#include "cli/term/terminal.h"
#include "insight/export/export.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon log export --format ecs|ocsf|csv [OPTION]...\n"
	      "\n"
	      "Writes records to standard output for other systems: Elastic Common Schema, Open Cybersecurity\n"
	      "Schema Framework (JSON, one object a line) or CSV. docs/export.md says what becomes what.\n"
	      "\n"
	      "      --format F            ecs, ocsf or csv\n",
	      out);
	fputs(query_options_help, out);
	fputs("  -h, --help                this text\n", out);
}

struct export
{
	const char *format;
	struct export_source source;
};

static int write_record(void *data, json_t *record)
{
	const struct export *e = data;
	json_t *made;

	if (strcmp(e->format, "csv") == 0) {
		export_csv(stdout, record);
		return ferror(stdout) ? -ECANCELED : 0;
	}
	made = strcmp(e->format, "ecs") == 0 ? export_ecs(record, &e->source)
					     : export_ocsf(record, &e->source);
	if (!made)
		return -ENOMEM;
	json_dumpf(made, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(made);
	return ferror(stdout) ? -ECANCELED : 0;
}

static int export(const struct query_options *options, struct export *e)
{
	char host[256] = "";
	int status = EXIT_FAILURE, r;

	if (gethostname(host, sizeof(host) - 1) == 0 && host[0])
		e->source.host = host;
	if (strcmp(e->format, "csv") == 0)
		export_csv_head(stdout);
	r = find_records(options->directory, &options->query, &options->search, write_record, e,
			 &status);
	if (r < 0 && r != -ECANCELED)
		return 2;
	return terminal_finish(stdout, status);
}

static bool is_format(const char *format)
{
	return strcmp(format, "ecs") == 0 || strcmp(format, "ocsf") == 0 ||
	       strcmp(format, "csv") == 0;
}

int log_command_export(int argc, char **argv)
{
	struct option table[QUERY_OPTIONS_COUNT + 3] = {
		{"format", required_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},
	};
	struct export e = {.source = {.version = CORDON_VERSION}};
	struct query_options options;
	int option, status = -1;

	memcpy(table + 2, query_options_table, sizeof(query_options_table));
	query_options_init(&options);
	while (status < 0 && (option = getopt_long(argc, argv, "h", table, NULL)) >= 0) {
		if (option == 'f') {
			e.format = optarg;
		} else if (option == 'h') {
			print_help(stdout);
			status = EXIT_SUCCESS;
		} else if (option == '?') {
			message("see `cordon log export --help`");
			status = 2;
		} else if (query_options_take(&options, option, optarg) < 0) {
			status = 2;
		}
	}
	if (status < 0 && (!e.format || !is_format(e.format) || optind < argc)) {
		message("log export takes --format ecs, ocsf or csv; see `cordon log export --help`");
		status = 2;
	}
	if (status < 0) {
		signal(SIGPIPE, SIG_IGN);
		status = export(&options, &e);
	}
	query_options_release(&options);
	return status;
}
