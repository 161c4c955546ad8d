/* SPDX-License-Identifier: Apache-2.0 */
/* cordon ps: the executions that are live. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/one_flag.h"
#include "cli/terminal.h"
#include "daemon/client.h"

/* Of a name of others' choice. */
#define NAME_WIDTH 20

static const char help[] =
	"usage: cordon ps [--json]\n"
	"\n"
	"Lists the executions that are live, oldest first: id, how long it has run, policy, agent,\n"
	"tasks (threads count), how often it was refused something (in observe mode: would have\n"
	"been), and the command. `cordon show ID` tells more, `cordon kill ID` ends one.\n"
	"\n"
	"      --json   for programs: an array of objects\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit status: 0 listed, be it none; 1 failed.\n";

enum column { COLUMN_ID, COLUMN_AGE, COLUMN_POLICY, COLUMN_AGENT, COLUMN_TASKS, COLUMN_DENIALS };
#define COLUMN_COUNT (COLUMN_DENIALS + 1)

static const char *const titles[COLUMN_COUNT] = {
	[COLUMN_ID] = "ID",	  [COLUMN_AGE] = "AGE",	    [COLUMN_POLICY] = "POLICY",
	[COLUMN_AGENT] = "AGENT", [COLUMN_TASKS] = "TASKS", [COLUMN_DENIALS] = "DENIALS",
};

struct row {
	char number[2][24]; /* what the texts of tasks and denials lie in */
	char age[STYLE_QUANTITY_SIZE];
	const char *text[COLUMN_COUNT];
	const char *command;
};

static const char *text_of(const json_t *execution, const char *key)
{
	const char *text = json_string_value(json_object_get(execution, key));

	return text ? text : "-";
}

static json_int_t number_of(const json_t *execution, const char *key)
{
	return json_integer_value(json_object_get(execution, key));
}

static void fill(struct row *row, const json_t *execution)
{
	bool observe = json_is_true(json_object_get(execution, "observe"));
	json_int_t denials = number_of(execution, observe ? "would_denials" : "denials");

	snprintf(row->number[0], sizeof(row->number[0]), "%" JSON_INTEGER_FORMAT,
		 number_of(execution, "tasks"));
	snprintf(row->number[1], sizeof(row->number[1]), "%" JSON_INTEGER_FORMAT "%s", denials,
		 observe ? " (observed)" : "");
	style_duration((unsigned long long)number_of(execution, "age_nsec"), row->age);
	row->text[COLUMN_ID] = text_of(execution, "id");
	row->text[COLUMN_AGE] = row->age;
	row->text[COLUMN_POLICY] = text_of(execution, "policy");
	row->text[COLUMN_AGENT] = text_of(execution, "agent");
	row->text[COLUMN_TASKS] = row->number[0];
	row->text[COLUMN_DENIALS] = row->number[1];
	row->command = text_of(execution, "program");
}

static void write_row(const struct style *style, enum style_role role, const struct row *row,
		      const size_t widths[COLUMN_COUNT])
{
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		size_t used = style_text_in(stdout, style, role, row->text[i],
					    i == COLUMN_ID ? 0 : NAME_WIDTH);

		style_pad(stdout, widths[i] - used + 2);
	}
	style_text_in(stdout, style, role, row->command, 0);
	putchar('\n');
}

/* Columns that a text takes, found by writing it to nowhere. */
static size_t width_of(FILE *nowhere, const struct style *style, const char *text, size_t limit)
{
	return style_text_in(nowhere, style, STYLE_PLAIN, text, limit);
}

static int write_table(const json_t *executions)
{
	struct style style = terminal_style(stdout);
	_cleanup_(fclosep) FILE *nowhere = fopen("/dev/null", "we");
	size_t count = json_array_size(executions), widths[COLUMN_COUNT] = {};
	_cleanup_(freep) struct row *rows = calloc(count + 1, sizeof(*rows));

	if (!nowhere || !rows) {
		message("cannot lay out the list: %m");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		rows[0].text[i] = titles[i];
	rows[0].command = "COMMAND";
	for (size_t i = 0; i < count; i++)
		fill(&rows[i + 1], json_array_get(executions, i));
	for (size_t row = 0; row <= count; row++) {
		for (size_t i = 0; i < COLUMN_COUNT; i++) {
			size_t width = width_of(nowhere, &style, rows[row].text[i],
						i == COLUMN_ID ? 0 : NAME_WIDTH);

			if (width > widths[i])
				widths[i] = width;
		}
	}
	for (size_t row = 0; row <= count; row++)
		write_row(&style, row == 0 ? STYLE_BOLD : STYLE_PLAIN, &rows[row], widths);
	return EXIT_SUCCESS;
}

static int by_age(const void *a, const void *b)
{
	const json_t *const *first = a, *const *second = b;

	/* Ids begin with the time of creation. */
	return strcmp(text_of(*first, "id"), text_of(*second, "id"));
}

/* New reference, or NULL without memory. */
static json_t *sorted(const json_t *executions)
{
	size_t count = json_array_size(executions);
	_cleanup_(freep) json_t **entries = calloc(count + 1, sizeof(*entries));
	json_t *array = json_array();

	for (size_t i = 0; entries && i < count; i++)
		entries[i] = json_array_get(executions, i);
	if (entries)
		qsort(entries, count, sizeof(*entries), by_age);
	for (size_t i = 0; entries && i < count; i++)
		json_array_append(array, entries[i]);
	if (array && json_array_size(array) == count)
		return array;
	json_decref(array);
	return NULL;
}

static int list(const json_t *executions, bool json)
{
	_cleanup_(json_decrefp) json_t *array = sorted(executions);

	if (!array) {
		message("out of memory");
		return EXIT_FAILURE;
	}
	if (json) {
		json_dumpf(array, stdout, JSON_COMPACT);
		putchar('\n');
		return EXIT_SUCCESS;
	}
	if (json_array_size(array) == 0) {
		puts("no execution is live");
		return EXIT_SUCCESS;
	}
	return write_table(array);
}

int cmd_ps(int argc, char **argv)
{
	_cleanup_(json_decrefp) json_t *executions = NULL;
	_cleanup_(closep) int socket = -1;
	struct failure failure = {};
	bool json = false;
	int r;

	r = parse_one_flag(argc, argv, "json", help, EXIT_FAILURE, &json);
	if (r >= 0)
		return r;
	r = client_connect(&socket, &failure);
	if (r == 0) {
		r = client_list(socket, &executions, &failure);
	} else if (r == -ENOENT || r == -ECONNREFUSED) {
		/* Then none can be live but those that an earlier daemon left. */
		message("no daemon runs; `cordon status` tells whether anything is enforced");
		return EXIT_FAILURE;
	}
	if (r < 0) {
		message("%s", failure.text);
		return EXIT_FAILURE;
	}
	return terminal_finish(stdout, list(executions, json));
}
