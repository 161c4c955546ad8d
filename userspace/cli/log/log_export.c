/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon log export`: records for other systems. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/log/find.h"
#include "cli/log/log_command.h"
#include "cli/log/private_export.h"
#include "cli/log/resume.h"
#include "cli/term/choose_word.h"
#include "cli/term/message.h"
#include "cli/log/query_options.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "insight/export/export.h"
#include "insight/text/view.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon log export --format ecs|ocsf|csv [OPTION]...\n"
	      "\n"
	      "Writes records to standard output for other systems: Elastic Common Schema, Open\n"
	      "Cybersecurity Schema Framework (JSON, one object a line) or CSV.\n"
	      "docs/reference/export.md lists the fields.\n"
	      "\n"
	      "      --format F            ecs, ocsf or csv\n"
	      "      --pseudonyms FILE     paths as classes, and pseudonyms instead of names,\n"
	      "                            by the key in FILE\n",
	      out);
	fputs("      --follow              go on as records are written, until Ctrl-C\n", out);
	fputs(resume_help, out);
	fputs(query_options_help, out);
	fputs(query_options_log_help, out);
	fputs("  -h, --help                this text\n", out);
}

#define HOST_SIZE 256u

struct export
{
	const char *format;
	struct export_source source;
	struct buffer buffer, dumped;
	const struct audit_query *query;
	char host[HOST_SIZE];
	struct resume resume;
	struct private_export private;
};

static void write_event(struct export *e, const struct flat_record *record)
{
	e->buffer.size = 0;
	if (strcmp(e->format, "ecs") == 0)
		export_ecs(&e->buffer, record, &e->source);
	else
		export_ocsf(&e->buffer, record, &e->source);
	buffer_literal(&e->buffer, "\n");
	if (!e->buffer.failed)
		fwrite_unlocked(e->buffer.data, 1, e->buffer.size, stdout);
}

/* By the quick way for lines, unless what is in it takes more care. */
static void write_row(struct export *e, const json_t *record)
{
	_cleanup_(freep) char *line = json_dumps(record, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (!line || !export_csv_line(stdout, &e->buffer, line, strlen(line)))
		export_csv(stdout, record);
}

static int write_record(void *data, json_t *record)
{
	struct export *e = data;
	struct flat_record flat;
	int r = private_export_record(&e->private, record);

	if (r < 0)
		return r;
	if (strcmp(e->format, "csv") == 0) {
		write_row(e, record);
		return ferror(stdout) ? -ECANCELED : 0;
	}
	r = flat_record_of(&flat, &e->dumped, record);
	if (r < 0)
		return r;
	write_event(e, &flat);
	if (e->buffer.failed)
		return -ENOMEM;
	return ferror(stdout) ? -ECANCELED : 0;
}

/* False: write_record() has to. */
static bool write_line(void *data, const char *line, size_t size)
{
	struct export *e = data;
	struct flat_record record;

	if (ferror(stdout) || e->private.path)
		return false;
	if (strcmp(e->format, "csv") == 0)
		return export_csv_line(stdout, &e->buffer, line, size);
	if (!flat_record_read(&record, line, size))
		return false;
	write_event(e, &record);
	return !e->buffer.failed;
}

static int take_host(void *data, json_t *record)
{
	const char *host = view_text(record, "host.name");

	if (!host)
		host = view_text(record, "cordon.agent.host");
	return host && snprintf(data, HOST_SIZE, "%s", host) < 0 ? -EIO : 0;
}

/* The host that the log is of, which need not be the one where it is read. */
static void find_host(const struct query_options *options, char host[HOST_SIZE])
{
	/* Logs of earlier builds have the name where the daemon's start is recorded. */
	static const char *const actions[] = {"identity", "agent-start"};
	const struct search_options last = {.limit = 1, .no_index = options->search.no_index};
	struct search_result result;
	struct failure failure;

	host[0] = '\0';
	for (size_t i = 0; !host[0] && i < ARRAY_SIZE(actions); i++) {
		const struct audit_query query = {.action = actions[i]};

		(void)audit_search(options->directory, &query, &last, take_host, host, &result,
				   &failure);
	}
	if (!host[0] && gethostname(host, HOST_SIZE - 1) < 0)
		host[0] = '\0';
}

/* As the record that names it would say. */
static void take_private_host(struct export *e)
{
	char name[PRIVATE_NAME_SIZE];

	if (e->private.path && e->host[0])
		(void)snprintf(e->host, sizeof(e->host), "%s",
			       private_name(&e->private.key, e->host, name) == 0 ? name : "?");
	e->source.host = e->host[0] ? e->host : NULL;
}

static int begin_behind(void *data)
{
	const struct export *e = data;

	if (strcmp(e->format, "csv") == 0 && e->resume.begun)
		export_csv_head(stdout);
	return 0;
}

/* The host is the one that the log names last before the record. */
static int write_behind(void *data, json_t *record)
{
	const char *host = view_text(record, "host.name");
	struct export *e = data;

	if (host) {
		snprintf(e->host, sizeof(e->host), "%s", host);
		take_private_host(e);
	}
	private_export_note(&e->private, record);
	return audit_query_matches(e->query, record) ? write_record(data, record) : 0;
}

static int export_behind(const struct query_options *options, struct export *e)
{
	if (options->search.limit > 0) {
		message("--lines takes the last records, --after, --cursor and --follow those behind "
			"one: leave one out");
		return 2;
	}
	find_host(options, e->host);
	take_private_host(e);
	e->query = &options->query;
	e->resume.directory = options->directory;
	return resume_run(&e->resume, begin_behind, write_behind, e);
}

static int export(const struct query_options *options, struct export *e)
{
	struct search_options search = options->search;
	int status = EXIT_FAILURE, r;

	if (strcmp(e->format, "csv") == 0) {
		export_csv_head(stdout);
	} else {
		find_host(options, e->host);
		take_private_host(e);
	}
	search.visit_line = write_line;
	r = find_records(options->directory, &options->query, &search, write_record, e, &status);
	if (r < 0 && r != -ECANCELED)
		return 2;
	/* Whoever reads has seen enough. */
	if (r == -ECANCELED)
		status = EXIT_SUCCESS;
	return terminal_finish(stdout, status);
}

int log_command_export(int argc, char **argv)
{
	struct option table[QUERY_OPTIONS_COUNT + 7] = {
		{"format", required_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},
		{"follow", no_argument, NULL, 'F'},
		{"after", required_argument, NULL, 'a'},
		{"cursor", required_argument, NULL, 'c'},
		{"pseudonyms", required_argument, NULL, 'P'},
	};
	static const char *const formats[] = {"ecs", "ocsf", "csv"};
	struct export e = {.source = {.version = CORDON_VERSION}};
	struct query_options options;
	int option, status = -1;

	memcpy(table + 6, query_options_table, sizeof(query_options_table));
	query_options_init(&options);
	while (status < 0 && (option = read_option(argc, argv, "h", table)) >= 0) {
		if (option == 'f') {
			e.format = optarg;
		} else if (option == 'h') {
			print_help(stdout);
			status = EXIT_SUCCESS;
		} else if (option == 'F') {
			e.resume.follow = true;
		} else if (option == 'a') {
			status = resume_take_after(&e.resume, optarg) < 0 ? 2 : -1;
		} else if (option == 'c') {
			e.resume.cursor = optarg;
		} else if (option == 'P') {
			e.private.path = optarg;
		} else if (option == '?') {
			message("see `cordon log export --help`");
			status = 2;
		} else if (query_options_take(&options, option, optarg) < 0) {
			status = 2;
		}
	}
	if (status < 0 && e.format &&
	    choose_word("--format", e.format, formats, ARRAY_SIZE(formats)) < 0)
		status = 2;
	if (status < 0 && (!e.format || optind < argc)) {
		message("log export takes --format ecs, ocsf or csv; see `cordon log export --help`");
		status = 2;
	}
	if (status < 0 && private_export_begin(&e.private, options.directory) < 0)
		status = 2;
	if (status < 0) {
		status = resume_is_wanted(&e.resume) || e.resume.follow
				 ? export_behind(&options, &e)
				 : export(&options, &e);
	}
	buffer_free(&e.buffer);
	buffer_free(&e.dumped);
	private_export_end(&e.private);
	query_options_release(&options);
	return status;
}
