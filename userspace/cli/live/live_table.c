/* SPDX-License-Identifier: Apache-2.0 */
/* Live executions as a table: for `cordon ps` and `cordon top`. */
#include "cli/live/live_table.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/uuid.h"

/* Names are chosen by users. */
#define NAME_WIDTH 14
#define CELL_SIZE  64
/* Narrower terminals have no room for agents and limits. */
#define WIDE 110
/* Of a command line; the terminal's width cuts it. */
#define COMMAND_SIZE 256

/* Numbers come first, because narrow terminals cut lines off at the end. */
enum column {
	COLUMN_CPU,
	COLUMN_MEMORY,
	COLUMN_TASKS,
	COLUMN_DENIALS,
	COLUMN_AGE,
	COLUMN_LEFT,
	COLUMN_POLICY,
	COLUMN_AGENT,
	COLUMN_ID,
	COLUMN_COUNT
};

static const char *const titles[COLUMN_COUNT] = {
	[COLUMN_CPU] = "CPU",	     [COLUMN_MEMORY] = "MEM",  [COLUMN_TASKS] = "TASKS",
	[COLUMN_DENIALS] = "DENIED", [COLUMN_AGE] = "AGE",     [COLUMN_LEFT] = "LEFT",
	[COLUMN_POLICY] = "POLICY",  [COLUMN_AGENT] = "AGENT", [COLUMN_ID] = "ID",
};

struct row {
	char cell[COLUMN_COUNT][CELL_SIZE]; /* what is made; names stay where they are */
	const char *text[COLUMN_COUNT];
	char command[COMMAND_SIZE];
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

static bool is_narrow(const struct style *style)
{
	return style->width > 0 && style->width < WIDE;
}

static bool is_shown(const struct style *style, enum column column)
{
	return column != COLUMN_AGENT || !is_narrow(style);
}

/* "950ms", "12s", "2m05s", "3h12m", "4d7h": at most six columns. */
static void short_duration(json_int_t nsec, char cell[CELL_SIZE])
{
	long long seconds = nsec / (json_int_t)NSEC_PER_SEC;

	if (seconds < 1)
		snprintf(cell, CELL_SIZE, "%lldms", nsec / (json_int_t)NSEC_PER_MSEC);
	else if (seconds < 60)
		snprintf(cell, CELL_SIZE, "%llds", seconds);
	else if (seconds < 3600)
		snprintf(cell, CELL_SIZE, "%lldm%02llds", seconds / 60, seconds % 60);
	else if (seconds < 100 * 3600)
		snprintf(cell, CELL_SIZE, "%lldh%02lldm", seconds / 3600, seconds / 60 % 60);
	else
		snprintf(cell, CELL_SIZE, "%lldd%lldh", seconds / 86400, seconds / 3600 % 24);
}

/* "512K", "24M", "1.5G" */
static void short_bytes(json_int_t bytes, char cell[24])
{
	static const char units[] = "KMGT";
	double value = (double)bytes / 1024;
	size_t unit = 0;

	while (value >= 999.5 && unit + 2 < sizeof(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(cell, 24, value < 9.95 && unit > 1 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

static void fill_tasks(struct row *row, const json_t *execution, const struct style *style)
{
	json_int_t limit = number_of(json_object_get(execution, "limits"), "pids");
	char use[24], most[24] = "";

	snprintf(use, sizeof(use), "%" JSON_INTEGER_FORMAT, number_of(execution, "tasks"));
	if (limit && !is_narrow(style))
		snprintf(most, sizeof(most), "%" JSON_INTEGER_FORMAT, limit);
	with_limit(row->cell[COLUMN_TASKS], use, most);
}

static void fill_memory(struct row *row, const json_t *execution, const struct style *style)
{
	const json_t *use = json_object_get(json_object_get(execution, "use"), "memory_bytes");
	json_int_t limit = number_of(json_object_get(execution, "limits"), "memory_bytes");
	char now[24] = "-", most[24] = "";

	if (json_is_integer(use))
		short_bytes(json_integer_value(use), now);
	if (limit && !is_narrow(style))
		short_bytes(limit, most);
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
		short_duration(json_integer_value(use), row->cell[COLUMN_CPU]);
		return;
	}
	/* One that was not there then has used all of it since. */
	was = cpu_of(same_execution(table->before, text_of(execution, "id")));
	row->busy = json_integer_value(use) - json_integer_value(was);
	snprintf(row->cell[COLUMN_CPU], CELL_SIZE, "%.0f%%",
		 100.0 * (double)row->busy / (double)table->interval_nsec);
}

/*
 * The first words of the command, from its first process: records keep no arguments unless the
 * policy has them in full. The program alone if /proc does not show them.
 */
static void fill_command(struct row *row, const json_t *execution)
{
	const char *program = text_of(execution, "program");
	json_int_t pid = number_of(execution, "pid");
	_cleanup_(freep) char *words = NULL;
	char path[64];
	size_t size;

	snprintf(row->command, sizeof(row->command), "%s", program);
	snprintf(path, sizeof(path), "/proc/%" JSON_INTEGER_FORMAT "/cmdline", pid);
	if (pid <= 0 || io_read_file(AT_FDCWD, path, 1 << 20, &words, &size) < 0 || size < 2)
		return;
	for (size_t i = 0; i + 1 < size; i++)
		if (words[i] == '\0')
			words[i] = ' ';
	snprintf(row->command, sizeof(row->command), "%s", words);
}

static void fill(struct row *row, const json_t *execution, const struct live_table *table,
		 const struct style *style)
{
	bool observe = json_is_true(json_object_get(execution, "observe"));
	json_int_t left = number_of(execution, "deadline_nsec");
	const char *id = text_of(execution, "id");

	for (size_t i = 0; i < COLUMN_COUNT; i++)
		row->text[i] = row->cell[i];
	/* Without a terminal, programs may read it. */
	row->text[COLUMN_ID] = style->width > 0 ? uuid_end(id) : id;
	row->text[COLUMN_POLICY] = text_of(execution, "policy");
	row->text[COLUMN_AGENT] = text_of(execution, "agent");
	fill_command(row, execution);
	short_duration(number_of(execution, "age_nsec"), row->cell[COLUMN_AGE]);
	strcpy(row->cell[COLUMN_LEFT], "-");
	if (left)
		short_duration(left, row->cell[COLUMN_LEFT]);
	fill_tasks(row, execution, style);
	fill_cpu(row, execution, table);
	fill_memory(row, execution, style);
	snprintf(row->cell[COLUMN_DENIALS], CELL_SIZE, "%" JSON_INTEGER_FORMAT "%s",
		 number_of(execution, observe ? "would_denials" : "denials"), observe ? "?" : "");
}

static size_t limit_of(enum column column)
{
	return column == COLUMN_ID ? 0 : NAME_WIDTH;
}

static void write_row(FILE *out, const struct style *style, enum style_role role,
		      const struct row *row, const size_t widths[COLUMN_COUNT])
{
	size_t taken = 0;

	for (enum column i = 0; i < COLUMN_COUNT; i++) {
		size_t used;

		if (!is_shown(style, i))
			continue;
		used = style_text_in(out, style, role, row->text[i], limit_of(i));
		style_pad(out, widths[i] - used + 1);
		taken += widths[i] + 1;
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
	for (enum column i = 0; i < COLUMN_COUNT; i++) {
		size_t width =
			style_text_in(nowhere, style, STYLE_PLAIN, row->text[i], limit_of(i));

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
	strcpy(rows[0].command, "COMMAND");
	for (size_t i = 0; i < count; i++)
		fill(&rows[i + 1], json_array_get(table->executions, i), table, style);
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
