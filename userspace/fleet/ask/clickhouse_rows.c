/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads rows in pages by key: each page begins after the last row of the one before, so that no
 * result stays open on the server. The pages are read within time spans, because the server reads
 * all rows of a span.
 */
#include "fleet/ask/clickhouse_rows.h"

#include <inttypes.h>
#include <jansson.h>

#include "base/clock.h"
#include "fleet/ask/row_conditions.h"

/* Few rows suffice for most queries. The page grows for a client that reads on. */
#define PAGE_MIN 1000u
#define PAGE_MAX 64000u

/* The first span. It grows while spans contain few rows. */
#define SPAN_MIN  (3600 * NSEC_PER_SEC)
#define SPAN_GROW 8

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
	/* Inclusive times: of all rows that may match, and of the current span. */
	uint64_t first, end, from, to;
	uint64_t span;
	bool begun, page_read, ended;
	struct source_row last;
};

/* Writes ClickHouse's form of SQLite's parameter ?1. */
static void add_parameter(struct buffer *out, const struct clickhouse_rows *rows, char digit)
{
	static const char *const types[] = {[ROW_TEXT] = "String", [ROW_TIME] = TIME_TYPE};

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

static void narrow_times(struct clickhouse_rows *rows, const struct row_question *question)
{
	uint64_t moment;

	if (question->all)
		return;
	if (question->query->since && clock_parse(question->query->since, &moment) == 0)
		rows->first = moment;
	if (question->query->until && clock_parse(question->query->until, &moment) == 0)
		rows->end = moment;
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
	rows->span = SPAN_MIN;
	rows->end = INT64_MAX;
	narrow_times(rows, question);
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
	buffer_literal(sql, " AND r.time >= {a:" TIME_TYPE "} AND r.time <= {b:" TIME_TYPE "}");
	if (rows->last.host[0])
		buffer_print(sql,
			     " AND (r.time, r.host, r.log, r.seq) %c ({t:" TIME_TYPE
			     "}, {h:String}, {l:String}, {s:UInt64})",
			     rows->backwards ? '<' : '>');
	buffer_print(sql,
		     " ORDER BY r.time%s, r.host%s, r.log%s, r.seq%s LIMIT %" PRIu64
		     " FORMAT JSONCompactEachRow",
		     order, order, order, order, rows->page_limit);
	buffer_add(sql, "", 1);
}

#define NUMBER_SIZE 24

static int read_page(struct clickhouse_rows *rows, struct failure *failure)
{
	struct clickhouse_parameter parameters[ROW_PARAMETERS_MAX + 6];
	char times[ROW_PARAMETERS_MAX][CLICKHOUSE_TIME_SIZE];
	char names[ROW_PARAMETERS_MAX][3], time[CLICKHOUSE_TIME_SIZE], sequence[NUMBER_SIZE];
	char from[CLICKHOUSE_TIME_SIZE], to[CLICKHOUSE_TIME_SIZE];
	struct buffer sql = {};
	size_t count = 0;
	int r;

	for (; count < rows->parameter_count; count++) {
		const struct row_parameter *p = &rows->parameters[count];

		(void)snprintf(names[count], sizeof(names[0]), "p%c", p->digit);
		clickhouse_time(p->time, times[count]);
		parameters[count] = (struct clickhouse_parameter){
			names[count], p->kind == ROW_TEXT ? p->text : times[count]};
	}
	clickhouse_time(rows->from, from);
	clickhouse_time(rows->to, to);
	parameters[count++] = (struct clickhouse_parameter){"a", from};
	parameters[count++] = (struct clickhouse_parameter){"b", to};
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
	rows->page_read = true;
	return r;
}

/* Sets the span that begins where the one before ended. */
static void set_span(struct clickhouse_rows *rows, uint64_t begin)
{
	if (rows->backwards) {
		rows->to = begin;
		rows->from = begin - rows->first > rows->span ? begin - rows->span : rows->first;
	} else {
		rows->from = begin;
		rows->to = rows->end - begin > rows->span ? begin + rows->span : rows->end;
	}
}

static void next_span(struct clickhouse_rows *rows)
{
	if (rows->backwards ? rows->from == rows->first : rows->to == rows->end) {
		rows->ended = true;
		return;
	}
	if (rows->page_rows < rows->page_limit / SPAN_GROW && rows->span < UINT64_MAX / SPAN_GROW)
		rows->span *= SPAN_GROW;
	set_span(rows, rows->backwards ? rows->from - 1 : rows->to + 1);
}

/* Reads the first and last time of all rows; the server has them as metadata. */
static int begin(struct clickhouse_rows *rows, struct failure *failure)
{
	static const char sql[] =
		"SELECT count(), toUnixTimestamp64Nano(min(time)), toUnixTimestamp64Nano(max(time))"
		" FROM records FORMAT JSONCompactEachRow";
	json_int_t count = 0, first = 0, end = 0;
	struct buffer answer = {};
	json_t *array = NULL;
	int r = clickhouse_ask(rows->clickhouse, sql, NULL, 0, &answer, failure);

	if (r == 0)
		array = json_loadb(answer.data, answer.size, 0, NULL);
	if (r == 0 && (!array || json_unpack(array, "[III]", &count, &first, &end) < 0))
		r = failure_set(failure, EIO,
				"ClickHouse sent a malformed result instead of times");
	json_decref(array);
	buffer_free(&answer);
	if (r < 0)
		return r;
	rows->begun = true;
	rows->first = (uint64_t)first > rows->first ? (uint64_t)first : rows->first;
	rows->end = (uint64_t)end < rows->end ? (uint64_t)end : rows->end;
	rows->ended = count == 0 || rows->first > rows->end;
	if (!rows->ended)
		set_span(rows, rows->backwards ? rows->end : rows->first);
	return 0;
}

/* Reads pages until one has a row, or until all spans are read. */
static int fill(struct clickhouse_rows *rows, struct failure *failure)
{
	int r = rows->begun ? 0 : begin(rows, failure);

	while (r == 0 && !rows->ended && rows->at >= rows->page.size) {
		/* The last page was full, so that its span has more rows. */
		if (rows->page_rows == rows->page_limit)
			rows->page_limit = rows->page_limit * 4 < PAGE_MAX ? rows->page_limit * 4
									   : PAGE_MAX;
		else if (rows->page_read)
			next_span(rows);
		if (!rows->ended)
			r = read_page(rows, failure);
	}
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
			: failure_set(failure, EIO,
				      "ClickHouse sent a malformed result instead of rows");

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
	const char *line;
	size_t size;
	int r = fill(rows, failure);

	if (r < 0 || !clickhouse_line(&rows->page, &rows->at, &line, &size))
		return r;
	r = read_row(line, size, &rows->last, failure);
	if (r < 0)
		return r;
	rows->page_rows++;
	*ret_row = rows->last;
	return 1;
}
