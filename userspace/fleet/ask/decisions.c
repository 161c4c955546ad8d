/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads counts of decisions, with the same SQL from SQLite or from ClickHouse: their tables have
 * the same columns.
 */
#include "fleet/ask/decisions.h"

#include <inttypes.h>
#include <jansson.h>

#include "fleet/ask/own_hosts.h"

#define HOUR_SIZE sizeof("2026-01-31 12:00:00")

#define REFUSED	 " AND action IN ('denial', 'attempt', 'execution-refused', 'would-deny')"
#define GROUPING "action, policy, rule, operation, template"

struct reading {
	struct rows *rows;
	struct clickhouse *clickhouse;
	const struct decisions_question *question;
	char hour[HOUR_SIZE];
	void (*visit)(void *data, const struct decision *decision);
	void *data;
	struct failure *failure;
};

/* `hour` and `hosts`: SQL expressions of the first hour and of the selected hosts. */
static void write_sql(const struct reading *r, struct buffer *sql, const char *hour,
		      const char *hosts)
{
	buffer_literal(sql, "SELECT " GROUPING
			    ", sum(count) AS decisions, count(DISTINCT host) AS hosts FROM rollups"
			    " WHERE hour >= ");
	buffer_string(sql, hour);
	buffer_literal(sql, " AND host IN (");
	buffer_string(sql, hosts);
	buffer_literal(sql, ")");
	if (!r->question->all)
		buffer_literal(sql, REFUSED);
	buffer_print(sql,
		     " GROUP BY " GROUPING " ORDER BY decisions DESC, " GROUPING " LIMIT %" PRIu64,
		     r->question->limit);
}

static int sql_failure(const struct reading *r)
{
	return failure_set(r->failure, EIO, "cannot read the store's rows: %s",
			   sqlite3_errmsg(rows_database(r->rows)));
}

static const char *text(sqlite3_stmt *row, int column)
{
	return (const char *)sqlite3_column_text(row, column);
}

static void visit_row(const struct reading *r, sqlite3_stmt *row)
{
	r->visit(r->data, &(struct decision){
				  .action = text(row, 0),
				  .policy = text(row, 1),
				  .rule = text(row, 2),
				  .operation = text(row, 3),
				  .template = text(row, 4),
				  .count = (uint64_t)sqlite3_column_int64(row, 5),
				  .hosts = (uint64_t)sqlite3_column_int64(row, 6),
			  });
}

static int read_here(const struct reading *r)
{
	sqlite3_stmt *statement = NULL;
	struct buffer sql = {};
	int step = SQLITE_ERROR;

	write_sql(
		r, &sql, "?1",
		"SELECT id FROM hosts WHERE ?2 IS NULL OR name = ?2 OR substr(hosts.host, 1, length(?2)) = ?2");
	buffer_add(&sql, "", 1);
	if (!sql.failed && sqlite3_prepare_v2(rows_database(r->rows), sql.data, -1, &statement,
					      NULL) == SQLITE_OK) {
		(void)sqlite3_bind_text(statement, 1, r->hour, -1, SQLITE_STATIC);
		(void)sqlite3_bind_text(statement, 2, r->question->host, -1, SQLITE_STATIC);
		while ((step = sqlite3_step(statement)) == SQLITE_ROW)
			visit_row(r, statement);
	}
	sqlite3_finalize(statement);
	buffer_free(&sql);
	return step == SQLITE_DONE ? 0 : sql_failure(r);
}

static int visit_line(const struct reading *r, const char *line, size_t size)
{
	json_t *array = json_loadb(line, size, 0, NULL);
	struct decision decision;
	json_int_t count, hosts;
	int e = array ? json_unpack(array, "[sssssII]", &decision.action, &decision.policy,
				    &decision.rule, &decision.operation, &decision.template, &count,
				    &hosts)
		      : -1;

	if (e == 0) {
		decision.count = (uint64_t)count;
		decision.hosts = (uint64_t)hosts;
		r->visit(r->data, &decision);
	}
	json_decref(array);
	return e == 0 ? 0
		      : failure_set(r->failure, EIO,
				    "ClickHouse sent a malformed result instead of counts");
}

static int visit_lines(const struct reading *r, const struct buffer *answer)
{
	const char *line;
	size_t at = 0, size;
	int e = 0;

	while (e == 0 && clickhouse_line(answer, &at, &line, &size))
		e = visit_line(r, line, size);
	return e;
}

static int read_there(const struct reading *r)
{
	const struct clickhouse_parameter since = {"hour", r->hour};
	struct buffer hosts = {}, sql = {}, answer = {};
	int e = own_hosts(r->rows, r->question->host, &hosts, r->failure);

	if (e == 0 && hosts.data[0]) {
		write_sql(r, &sql, "{hour:DateTime('UTC')}", hosts.data);
		buffer_literal(&sql, " FORMAT JSONCompactEachRow");
		buffer_add(&sql, "", 1);
		e = sql.failed ? failure_set(r->failure, ENOMEM, "out of memory")
			       : clickhouse_ask(r->clickhouse, sql.data, &since, 1, &answer,
						r->failure);
	}
	if (e == 0)
		e = visit_lines(r, &answer);
	buffer_free(&answer);
	buffer_free(&sql);
	buffer_free(&hosts);
	return e;
}

/*
 * Returns 1 if ClickHouse counts the decisions, and how many it has not received; 0 if SQLite
 * counts them.
 */
static int where_counted(const struct reading *r, uint64_t *ret_uncounted)
{
	static const char sql[] =
		"SELECT EXISTS(SELECT 1 FROM forwarding), (SELECT count(*) FROM logs l CROSS JOIN records r"
		" ON r.host = l.host AND r.log = l.id AND r.seq > l.sent AND r.seq <= l.contiguous"
		" AND r.segment > 0 WHERE r.operation != '')";
	sqlite3_stmt *statement = NULL;
	int elsewhere = 0, step = SQLITE_ERROR;

	if (sqlite3_prepare_v2(rows_database(r->rows), sql, -1, &statement, NULL) == SQLITE_OK)
		step = sqlite3_step(statement);
	if (step == SQLITE_ROW) {
		elsewhere = sqlite3_column_int(statement, 0);
		*ret_uncounted = elsewhere ? (uint64_t)sqlite3_column_int64(statement, 1) : 0;
	}
	sqlite3_finalize(statement);
	return step == SQLITE_ROW ? elsewhere : sql_failure(r);
}

int decisions_read(struct rows *rows, struct clickhouse *clickhouse,
		   const struct decisions_question *question,
		   void (*visit)(void *data, const struct decision *decision), void *data,
		   uint64_t *ret_uncounted, struct failure *failure)
{
	struct reading reading = {rows, clickhouse, question, "", visit, data, failure};
	int r = where_counted(&reading, ret_uncounted);

	if (r < 0)
		return r;
	/* A record's time format, with a space instead of the T. */
	(void)snprintf(reading.hour, sizeof(reading.hour), "%.10s %.2s:00:00", question->since,
		       question->since + 11);
	if (r == 0)
		return read_here(&reading);
	if (!clickhouse)
		return failure_set(
			failure, ENODATA,
			"decisions are counted in ClickHouse: configure it in fleet.yaml, "
			"or name the file with --fleet");
	return read_there(&reading);
}
