/* SPDX-License-Identifier: Apache-2.0 */
/* Live executions as a table: for `cordon ps` and `cordon top`. */
#include "cli/live/live_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"

/* Of a name of others' choice. */
#define NAME_WIDTH 20
#define CELL_SIZE  (2 * STYLE_QUANTITY_SIZE + 8)

enum column {
	COLUMN_ID,
	COLUMN_AGE,
	COLUMN_LEFT,
	COLUMN_POLICY,
	COLUMN_AGENT,
	COLUMN_TASKS,
	COLUMN_CPU,
	COLUMN_MEMORY,
	COLUMN_DENIALS,
	COLUMN_COUNT
};

static const char *const titles[COLUMN_COUNT] = {
	[COLUMN_ID] = "ID",	    [COLUMN_AGE] = "AGE",     [COLUMN_LEFT] = "LEFT",
	[COLUMN_POLICY] = "POLICY", [COLUMN_AGENT] = "AGENT", [COLUMN_TASKS] = "TASKS",
	[COLUMN_CPU] = "CPU",	    [COLUMN_MEMORY] = "MEM",  [COLUMN_DENIALS] = "DENIALS",
};

struct row {
	char cell[COLUMN_COUNT][CELL_SIZE]; /* what is made; names stay where they are */
	const char *text[COLUMN_COUNT];
	const char *command;
	json_int_t busy; /* to sort by */
};

static const char *text_of(const json_t *execution, const char *key)
{
	const char *text = json_string_value(json_object_get(execution, key));

	return text ? text : "-";
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* "use/limit", or the use alone. */
static void with_limit(char cell[CELL_SIZE], const char *use, const char *limit)
{
	snprintf(cell, CELL_SIZE, "%s%s%s", use, *limit ? "/" : "", limit);
}

static void fill_tasks(struct row *row, const json_t *execution)
{
	json_int_t limit = number_of(json_object_get(execution, "limits"), "pids");
	char use[24], most[24] = "";

	snprintf(use, sizeof(use), "%" JSON_INTEGER_FORMAT, number_of(execution, "tasks"));
	if (limit)
		snprintf(most, sizeof(most), "%" JSON_INTEGER_FORMAT, limit);
	with_limit(row->cell[COLUMN_TASKS], use, most);
}

static void fill_memory(struct row *row, const json_t *execution)
{
	const json_t *use = json_object_get(json_object_get(execution, "use"), "memory_bytes");
	json_int_t limit = number_of(json_object_get(execution, "limits"), "memory_bytes");
	char now[STYLE_QUANTITY_SIZE] = "-", most[STYLE_QUANTITY_SIZE] = "";

	if (json_is_integer(use))
		style_bytes((unsigned long long)json_integer_value(use), now);
	if (limit)
		style_bytes((unsigned long long)limit, most);
	with_limit(row->cell[COLUMN_MEMORY], now, most);
}

static const json_t *same_execution(const json_t *list, const char *id)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		if (strcmp(text_of(entry, "id"), id) == 0)
			return entry;
	}
	return NULL;
}

static const json_t *cpu_of(const json_t *execution)
{
	return json_object_get(json_object_get(execution, "use"), "cpu_nsec");
}

static void fill_cpu(struct row *row, const json_t *execution, const struct live_table *table)
{
	const json_t *use = cpu_of(execution), *was;

	strcpy(row->cell[COLUMN_CPU], "-");
	if (!json_is_integer(use))
		return;
	if (!table->before || table->interval_nsec == 0) {
		style_duration((unsigned long long)json_integer_value(use), row->cell[COLUMN_CPU]);
		return;
	}
	/* One that was not there then has used all of it since. */
	was = cpu_of(same_execution(table->before, text_of(execution, "id")));
	row->busy = json_integer_value(use) - json_integer_value(was);
	snprintf(row->cell[COLUMN_CPU], CELL_SIZE, "%.0f%%",
		 100.0 * (double)row->busy / (double)table->interval_nsec);
}

static void fill(struct row *row, const json_t *execution, const struct live_table *table)
{
	bool observe = json_is_true(json_object_get(execution, "observe"));
	json_int_t left = number_of(execution, "deadline_nsec");

	for (size_t i = 0; i < COLUMN_COUNT; i++)
		row->text[i] = row->cell[i];
	row->text[COLUMN_ID] = text_of(execution, "id");
	row->text[COLUMN_POLICY] = text_of(execution, "policy");
	row->text[COLUMN_AGENT] = text_of(execution, "agent");
	row->command = text_of(execution, "program");
	style_duration((unsigned long long)number_of(execution, "age_nsec"), row->cell[COLUMN_AGE]);
	strcpy(row->cell[COLUMN_LEFT], "-");
	if (left)
		style_duration((unsigned long long)left, row->cell[COLUMN_LEFT]);
	fill_tasks(row, execution);
	fill_cpu(row, execution, table);
	fill_memory(row, execution);
	snprintf(row->cell[COLUMN_DENIALS], CELL_SIZE, "%" JSON_INTEGER_FORMAT "%s",
		 number_of(execution, observe ? "would_denials" : "denials"),
		 observe ? " (observed)" : "");
}

static void write_row(FILE *out, const struct style *style, enum style_role role,
		      const struct row *row, const size_t widths[COLUMN_COUNT])
{
	size_t taken = 0;

	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		size_t used = style_text_in(out, style, role, row->text[i],
					    i == COLUMN_ID ? 0 : NAME_WIDTH);

		style_pad(out, widths[i] - used + 2);
		taken += widths[i] + 2;
	}
	/* The command has what is left of the line; "..." takes three. */
	style_text_in(out, style, role, row->command,
		      style->width > taken + 3 ? style->width - taken
		      : style->width	       ? 4
					       : 0);
	putc('\n', out);
}

/* Columns that a text takes, found by writing it to nowhere. */
static void measure(FILE *nowhere, const struct style *style, const struct row *row,
		    size_t widths[COLUMN_COUNT])
{
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		size_t width = style_text_in(nowhere, style, STYLE_PLAIN, row->text[i],
					     i == COLUMN_ID ? 0 : NAME_WIDTH);

		if (width > widths[i])
			widths[i] = width;
	}
}

static int by_age(const void *a, const void *b)
{
	const json_t *const *first = a, *const *second = b;

	/* Ids begin with the time of creation. */
	return strcmp(text_of(*first, "id"), text_of(*second, "id"));
}

json_t *live_table_sorted(const json_t *executions)
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

static int by_use(const void *a, const void *b)
{
	const struct row *const *first = a, *const *second = b;

	if ((*first)->busy != (*second)->busy)
		return (*first)->busy < (*second)->busy ? 1 : -1;
	return strcmp((*first)->text[COLUMN_ID], (*second)->text[COLUMN_ID]);
}

static int write_rows(FILE *out, const struct style *style, struct row **rows, size_t count)
{
	_cleanup_(fclosep) FILE *nowhere = fopen("/dev/null", "we");
	size_t widths[COLUMN_COUNT] = {};

	if (!nowhere)
		return -errno;
	for (size_t i = 0; i < count; i++)
		measure(nowhere, style, rows[i], widths);
	for (size_t i = 0; i < count; i++)
		write_row(out, style, i == 0 ? STYLE_BOLD : STYLE_PLAIN, rows[i], widths);
	return 0;
}

int live_table_write(FILE *out, const struct style *style, const struct live_table *table)
{
	size_t count = json_array_size(table->executions), shown = count;
	_cleanup_(freep) struct row *rows = calloc(count + 1, sizeof(*rows));
	_cleanup_(freep) struct row **order = calloc(count + 1, sizeof(struct row *));
	int r;

	if (!rows || !order)
		return -ENOMEM;
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		rows[0].text[i] = titles[i];
	rows[0].command = "COMMAND";
	for (size_t i = 0; i < count; i++)
		fill(&rows[i + 1], json_array_get(table->executions, i), table);
	for (size_t i = 0; i <= count; i++)
		order[i] = &rows[i];
	if (table->before)
		qsort(order + 1, count, sizeof(*order), by_use);
	if (table->rows > 0 && shown > table->rows)
		shown = table->rows;
	r = write_rows(out, style, order, shown + 1);
	if (shown < count)
		fprintf(out, "... and %zu more\n", count - shown);
	return r;
}
