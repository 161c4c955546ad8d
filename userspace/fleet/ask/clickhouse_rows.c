/* SPDX-License-Identifier: Apache-2.0 */
/* Pages by key: each begins behind the last row of the one before; no answer is held open. */
#include "fleet/ask/clickhouse_rows.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "fleet/ask/row_conditions.h"

/* Few are enough for most questions; whoever reads all gets ever more at once. */
#define PAGE_MIN 1000u
#define PAGE_MAX 64000u

#define TIME_TYPE "DateTime64(9, 'UTC')"

struct clickhouse_rows {
	struct clickhouse *clickhouse;
	bool backwards;
	struct buffer where;
	struct row_parameter parameters[ROW_PARAMETERS_MAX];
	size_t parameter_count;

	struct buffer page;
	size_t at;
	uint64_t page_rows, page_limit;
	bool ended;
	struct source_row last;
};

/* As ClickHouse writes what SQLite writes as ?1. */
static void add_parameter(struct buffer *out, const struct clickhouse_rows *rows, char digit)
{
	static const char *const types[] = {
		[ROW_TEXT] = "String", [ROW_TIME] = TIME_TYPE, [ROW_NUMBER] = "UInt64"};

	for (size_t i = 0; i < rows->parameter_count; i++)
		if (rows->parameters[i].digit == digit)
			buffer_print(out, "{p%c:%s}", digit, types[rows->parameters[i].kind]);
}

static void write_where(struct clickhouse_rows *rows, const struct row_question *question,
			const char *hosts)
{
	struct buffer conditions = {};

	buffer_literal(&rows->where, " WHERE 1");
	if (hosts) {
		buffer_literal(&rows->where, " AND r.host IN (");
		buffer_string(&rows->where, hosts);
		buffer_literal(&rows->where, ")");
	}
	if (!question->all)
		rows->parameter_count =
			row_conditions(question->query, &conditions, rows->parameters);
	for (size_t i = 0; i < conditions.size; i++) {
		if (conditions.data[i] == '?')
			add_parameter(&rows->where, rows, conditions.data[++i]);
		else
			buffer_add(&rows->where, conditions.data + i, 1);
	}
	rows->where.failed |= conditions.failed;
	buffer_free(&conditions);
}

int clickhouse_rows_open(struct clickhouse *clickhouse, const struct row_question *question,
			 const char *hosts, struct clickhouse_rows **ret_rows,
			 struct failure *failure)
{
	struct clickhouse_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return failure_set(failure, ENOMEM, "out of memory");
	rows->clickhouse = clickhouse;
	rows->backwards = question->backwards;
	rows->page_limit = PAGE_MIN;
	write_where(rows, question, hosts);
	*ret_rows = rows;
	return 0;
}

void clickhouse_rows_close(struct clickhouse_rows *rows)
{
	buffer_free(&rows->where);
	buffer_free(&rows->page);
	free(rows);
}

static void write_sql(const struct clickhouse_rows *rows, struct buffer *sql)
{
	const char *order = rows->backwards ? " DESC" : "";

	buffer_literal(
		sql,
		"SELECT r.host, r.log, r.seq, toUnixTimestamp64Nano(r.time), r.segment, r.offset FROM records AS r");
	buffer_add(sql, rows->where.data, rows->where.size);
	if (rows->last.host[0])
		/* The first says to the server what it need not read. */
		buffer_print(sql,
			     " AND r.time %s= {t:" TIME_TYPE "}"
			     " AND (r.time, r.host, r.log, r.seq) %s ({t:" TIME_TYPE
			     "}, {h:String}, {l:String}, {s:UInt64})",
			     rows->backwards ? "<" : ">", rows->backwards ? "<" : ">");
	buffer_print(sql,
		     " ORDER BY r.time%s, r.host%s, r.log%s, r.seq%s LIMIT %" PRIu64
		     " FORMAT JSONCompactEachRow",
		     order, order, order, order, rows->page_limit);
	buffer_add(sql, "", 1);
}

#define NUMBER_SIZE 24

static int read_page(struct clickhouse_rows *rows, struct failure *failure)
{
	struct clickhouse_parameter parameters[ROW_PARAMETERS_MAX + 4];
	char texts[ROW_PARAMETERS_MAX][CLICKHOUSE_TIME_SIZE + NUMBER_SIZE];
	char names[ROW_PARAMETERS_MAX][3], time[CLICKHOUSE_TIME_SIZE], sequence[NUMBER_SIZE];
	struct buffer sql = {};
	size_t count = 0;
	int r;

	for (; count < rows->parameter_count; count++) {
		const struct row_parameter *p = &rows->parameters[count];

		(void)snprintf(names[count], sizeof(names[0]), "p%c", p->digit);
		if (p->kind == ROW_TIME)
			clickhouse_time(p->number, texts[count]);
		else
			(void)snprintf(texts[count], sizeof(texts[0]), "%" PRIu64, p->number);
		parameters[count] = (struct clickhouse_parameter){
			names[count], p->kind == ROW_TEXT ? p->text : texts[count]};
	}
	if (rows->last.host[0]) {
		clickhouse_time(rows->last.time, time);
		(void)snprintf(sequence, sizeof(sequence), "%" PRIu64, rows->last.sequence);
		parameters[count++] = (struct clickhouse_parameter){"t", time};
		parameters[count++] = (struct clickhouse_parameter){"h", rows->last.host};
		parameters[count++] = (struct clickhouse_parameter){"l", rows->last.log};
		parameters[count++] = (struct clickhouse_parameter){"s", sequence};
	}
	rows->page.size = rows->at = 0;
	rows->page_rows = 0;
	write_sql(rows, &sql);
	r = sql.failed || rows->where.failed
		    ? failure_set(failure, ENOMEM, "out of memory")
		    : clickhouse_ask(rows->clickhouse, sql.data, parameters, count, &rows->page,
				     failure);
	buffer_free(&sql);
	return r;
}

static int read_row(const char *line, size_t size, struct source_row *ret_row,
		    struct failure *failure)
{
	json_int_t sequence, time, segment, offset;
	json_t *array = json_loadb(line, size, 0, NULL);
	const char *host, *log;
	int r = array &&
				json_unpack(array, "[ssIIII]", &host, &log, &sequence, &time,
					    &segment, &offset) == 0 &&
				delivery_id_is_valid(host) && delivery_id_is_valid(log)
			? 0
			: failure_set(failure, EIO, "ClickHouse answers something else than rows");

	if (r == 0) {
		*ret_row = (struct source_row){
			.sequence = (uint64_t)sequence,
			.time = (uint64_t)time,
			.segment = (uint64_t)segment,
			.offset = (uint64_t)offset,
		};
		(void)snprintf(ret_row->host, sizeof(ret_row->host), "%s", host);
		(void)snprintf(ret_row->log, sizeof(ret_row->log), "%s", log);
	}
	json_decref(array);
	return r;
}

int clickhouse_rows_next(struct clickhouse_rows *rows, struct source_row *ret_row,
			 struct failure *failure)
{
	const char *line, *newline;
	int r;

	if (rows->at == rows->page.size) {
		if (rows->ended)
			return 0;
		r = read_page(rows, failure);
		if (r < 0)
			return r;
	}
	if (rows->page.size == 0) {
		rows->ended = true;
		return 0;
	}
	line = rows->page.data + rows->at;
	newline = memchr(line, '\n', rows->page.size - rows->at);
	if (!newline)
		return failure_set(failure, EIO, "ClickHouse's answer ends in the midst of a row");
	r = read_row(line, (size_t)(newline - line), &rows->last, failure);
	if (r < 0)
		return r;
	rows->at += (size_t)(newline - line) + 1;
	rows->page_rows++;
	if (rows->at == rows->page.size) {
		rows->ended = rows->page_rows < rows->page_limit;
		rows->page_limit = rows->page_limit * 4 < PAGE_MAX ? rows->page_limit * 4
								   : PAGE_MAX;
	}
	*ret_row = rows->last;
	return 1;
}
