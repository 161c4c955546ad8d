/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>

#include "audit/reader.h"
#include "audit/record.h"
#include "base/uuid.h"
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/terminal.h"
#include "insight/story.h"
#include "insight/view.h"

#define CANDIDATES_SHOWN 10

static const char help[] =
	"usage: cordon show ID|last [--log DIR] [--json]\n"
	"\n"
	"Tells what one execution did and what was refused. ID is its id, or the beginning of it;\n"
	"`cordon events` shows ids; `last` is the execution that started last.\n"
	"\n"
	"      --json           its records, as JSON\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n";

struct search {
	const char *directory;
	const char *wanted; /* prefix, or NULL: the last */
	json_t *found;	    /* ids that match, as keys, in order */
	json_t *records;
	unsigned long long problems;
};

/* Calls `visit` for each well chained record. */
static int for_each_record(struct search *s, void (*visit)(struct search *s, json_t *record))
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct failure failure = {0};
	int r;

	r = audit_reader_open(s->directory, &reader, &failure);
	if (r < 0) {
		message("%s", failure.text);
		return r;
	}
	s->problems = 0;
	for (;;) {
		_cleanup_(json_decrefp) json_t *record = NULL;

		failure.text[0] = '\0';
		r = audit_reader_next(reader, &record, &failure);
		if (r == -ENODATA)
			return 0;
		if (r == 0) {
			visit(s, record);
		} else if (r == -EBADMSG) {
			s->problems++;
		} else {
			message("%s", failure.text);
			return r;
		}
	}
}

static void find_id(struct search *s, json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");

	if (!id)
		return;
	if (!s->wanted) {
		if (view_is(record, "execution-start")) {
			json_object_clear(s->found);
			json_object_set_new(s->found, id, json_true());
		}
		return;
	}
	if (strncmp(id, s->wanted, strlen(s->wanted)) == 0)
		json_object_set_new(s->found, id, json_true());
}

static void collect(struct search *s, json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");

	if (id && json_object_get(s->found, id))
		json_array_append(s->records, record);
}

/* Ids are compared as they are written: lower case. */
static bool parse_prefix(const char *text, char prefix[UUID_TEXT_SIZE])
{
	size_t length = strlen(text);

	if (length == 0 || length >= UUID_TEXT_SIZE ||
	    strspn(text, "0123456789abcdefABCDEF-") != length)
		return false;
	for (size_t i = 0; i <= length; i++)
		prefix[i] = (char)tolower((unsigned char)text[i]);
	return true;
}

static int complain_of_count(const struct search *s)
{
	size_t count = json_object_size(s->found), shown = 0;
	const char *id;
	json_t *value;

	if (count == 0 && s->wanted)
		message("no execution in %s has an id that begins with %s; `cordon events --log "
			"%s` shows them",
			s->directory, s->wanted, s->directory);
	else if (count == 0)
		message("no execution is on record in %s", s->directory);
	if (count <= 1)
		return EXIT_FAILURE;
	message("%zu executions have an id that begins with %s; say more of it:", count, s->wanted);
	json_object_foreach(s->found, id, value) {
		if (shown++ == CANDIDATES_SHOWN)
			break;
		message("  %s", id);
	}
	return EXIT_FAILURE;
}

static int show_found(struct search *s, bool json)
{
	struct style style = terminal_style(stdout);
	size_t count = json_array_size(s->records);
	json_t **records;
	int r;

	if (json) {
		r = json_dumpf(s->records, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
		return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	records = calloc(count + 1, sizeof(*records));
	if (!records) {
		message("out of memory");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < count; i++)
		records[i] = json_array_get(s->records, i);
	r = story_write(stdout, &style, records, count);
	free(records);
	if (r < 0) {
		message("out of memory");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

static int run(struct search *s, bool json)
{
	int status;

	if (for_each_record(s, find_id) < 0)
		return EXIT_FAILURE;
	if (json_object_size(s->found) != 1)
		return complain_of_count(s);
	if (for_each_record(s, collect) < 0)
		return EXIT_FAILURE;
	status = terminal_finish(stdout, show_found(s, json));
	if (s->problems > 0) {
		message("%llu lines of this log are damaged and left out: see `cordon log verify "
			"--log %s`",
			s->problems, s->directory);
		status = EXIT_FAILURE;
	}
	return status;
}

int cmd_show(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct search search = {.directory = DEFAULT_LOG_DIRECTORY};
	char prefix[UUID_TEXT_SIZE];
	bool json = false;
	int option, status;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (option) {
		case 'j':
			json = true;
			break;
		case 'l':
			search.directory = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(help, stderr);
			return 2;
		}
	}
	if (optind + 1 != argc) {
		message("show takes one id, or `last`");
		fputs(help, stderr);
		return 2;
	}
	if (strcmp(argv[optind], "last") != 0) {
		if (!parse_prefix(argv[optind], prefix)) {
			message("\"%s\" is no id of an execution: give hexadecimal digits as "
				"`cordon events` shows them, or `last`",
				argv[optind]);
			return 2;
		}
		search.wanted = prefix;
	}
	signal(SIGPIPE, SIG_IGN);
	search.found = json_object();
	search.records = json_array();
	if (search.found && search.records) {
		status = run(&search, json);
	} else {
		message("out of memory");
		status = EXIT_FAILURE;
	}
	json_decref(search.found);
	json_decref(search.records);
	return status;
}
