/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the rows of SQLite and ClickHouse. */
#include "fleet/ask/row_source.h"

#include <string.h>

#include "fleet/ask/clickhouse_rows.h"
#include "fleet/ask/own_hosts.h"
#include "fleet/ask/row_conditions.h"

struct head {
	struct source_row row;
	int state; /* 1: `row` is its next row; 0: at the end; -1: not read yet */
};

struct row_source {
	struct rows *rows;
	bool backwards, begun;
	sqlite3_stmt *statement, *name;
	struct clickhouse_rows *clickhouse; /* NULL: no rows there */
	struct head here, there;
	struct source_row last; /* last row returned */
};

static int sql_failure(struct row_source *s, struct failure *failure)
{
	return failure_set(failure, EIO, "cannot read the store's rows: %s",
			   sqlite3_errmsg(rows_database(s->rows)));
}

static int prepare(struct row_source *s, const char *sql, sqlite3_stmt **ret_statement,
		   struct failure *failure)
{
	return sqlite3_prepare_v2(rows_database(s->rows), sql, -1, ret_statement, NULL) == SQLITE_OK
		       ? 0
		       : sql_failure(s, failure);
}

/* row_conditions() uses smaller parameter numbers. */
#define HOST_CONDITION " AND (h.name = ?9 OR substr(h.host, 1, length(?9)) = ?9)"
#define HOST_PARAMETER 9

static void bind(sqlite3_stmt *statement, const struct row_question *question,
		 const struct row_parameter *parameters, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int number = parameters[i].digit - '0';

		if (parameters[i].kind == ROW_TEXT)
			(void)sqlite3_bind_text(statement, number, parameters[i].text, -1,
						SQLITE_STATIC);
		else
			(void)sqlite3_bind_int64(statement, number,
						 (sqlite3_int64)parameters[i].time);
	}
	if (question->host)
		(void)sqlite3_bind_text(statement, HOST_PARAMETER, question->host, -1,
					SQLITE_STATIC);
}

static int open_here(struct row_source *s, const struct row_question *question,
		     struct failure *failure)
{
	struct row_parameter parameters[ROW_PARAMETERS_MAX];
	struct buffer sql = {};
	size_t count = 0;
	int r;

	buffer_literal(
		&sql,
		"SELECT h.host, l.log, r.seq, r.time, r.segment, r.offset,"
		" iif(r.segment < 0, substr(w.data, r.offset + 1, r.size), e.line) FROM records r"
		" JOIN hosts h ON h.id = r.host JOIN logs l ON l.id = r.log"
		" LEFT JOIN early e ON r.segment IS NULL AND e.log = r.log AND e.seq = r.seq"
		" LEFT JOIN waiting w ON r.segment < 0 AND w.id = -r.segment WHERE 1");
	if (question->host)
		buffer_literal(&sql, HOST_CONDITION);
	if (!question->all)
		count = row_conditions(question->query, &sql, parameters);
	buffer_string(&sql, question->backwards
				    ? " ORDER BY r.time DESC, h.host DESC, l.log DESC, r.seq DESC"
				    : " ORDER BY r.time, h.host, l.log, r.seq");
	buffer_add(&sql, "", 1);
	r = sql.failed ? failure_set(failure, ENOMEM, "out of memory")
		       : prepare(s, sql.data, &s->statement, failure);
	buffer_free(&sql);
	if (r == 0)
		bind(s->statement, question, parameters, count);
	return r;
}

/*
 * Returns 1 if this store has sent rows to ClickHouse, otherwise 0. Its SELECT also starts SQLite's
 * read snapshot.
 */
static int look_whether_sent(struct row_source *s, struct failure *failure)
{
	sqlite3_stmt *statement = NULL;
	int r = prepare(s, "SELECT 1 FROM logs WHERE sent > 0 LIMIT 1", &statement, failure);

	if (r < 0)
		return r;
	r = sqlite3_step(statement);
	sqlite3_finalize(statement);
	if (r == SQLITE_DONE)
		return 0;
	return r == SQLITE_ROW ? 1 : sql_failure(s, failure);
}

static int open_there(struct row_source *s, struct clickhouse *clickhouse,
		      const struct row_question *question, struct failure *failure)
{
	struct buffer hosts = {};
	int r = look_whether_sent(s, failure);

	if (r <= 0)
		return r;
	if (!clickhouse)
		return failure_set(
			failure, ENODATA,
			"rows of this store are in ClickHouse: configure it in fleet.yaml,  "
			"or name the file with --fleet");
	r = question->host ? own_hosts(s->rows, question->host, &hosts, failure) : 0;
	if (r == 0 && (!question->host || hosts.data[0]))
		r = clickhouse_rows_open(clickhouse, question, hosts.data, &s->clickhouse, failure);
	buffer_free(&hosts);
	return r;
}

/*
 * A row is removed from SQLite only after ClickHouse has it. SQLite's snapshot is therefore taken
 * first, so that no row is missing in both.
 */
static int open_all(struct row_source *s, struct clickhouse *clickhouse,
		    const struct row_question *question, struct failure *failure)
{
	int r;

	if (sqlite3_exec(rows_database(s->rows), "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return sql_failure(s, failure);
	s->begun = true;
	r = open_there(s, clickhouse, question, failure);
	if (r == 0)
		r = open_here(s, question, failure);
	return r == 0 ? prepare(s, "SELECT name FROM hosts WHERE host = ?1", &s->name, failure) : r;
}

int row_source_open(struct rows *rows, struct clickhouse *clickhouse,
		    const struct row_question *question, struct row_source **ret_source,
		    struct failure *failure)
{
	struct row_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return failure_set(failure, ENOMEM, "out of memory");
	s->rows = rows;
	s->backwards = question->backwards;
	s->here.state = s->there.state = -1;
	r = open_all(s, clickhouse, question, failure);
	if (r < 0) {
		row_source_close(s);
		return r;
	}
	*ret_source = s;
	return 0;
}

void row_source_close(struct row_source *s)
{
	sqlite3_finalize(s->statement);
	sqlite3_finalize(s->name);
	if (s->clickhouse)
		clickhouse_rows_close(s->clickhouse);
	if (s->begun)
		(void)sqlite3_exec(rows_database(s->rows), "COMMIT", NULL, NULL, NULL);
	free(s);
}

static int next_here(struct row_source *s, struct source_row *ret_row, struct failure *failure)
{
	sqlite3_stmt *at = s->statement;
	int r = sqlite3_step(at);

	if (r != SQLITE_ROW)
		return r == SQLITE_DONE ? 0 : sql_failure(s, failure);
	*ret_row = (struct source_row){
		.sequence = (uint64_t)sqlite3_column_int64(at, 2),
		.time = (uint64_t)sqlite3_column_int64(at, 3),
		.segment = (uint64_t)sqlite3_column_int64(at, 4),
		.offset = (uint64_t)sqlite3_column_int64(at, 5),
		.early = sqlite3_column_blob(at, 6),
		.early_size = (size_t)sqlite3_column_bytes(at, 6),
	};
	(void)snprintf(ret_row->host, sizeof(ret_row->host), "%s",
		       (const char *)sqlite3_column_text(at, 0));
	(void)snprintf(ret_row->log, sizeof(ret_row->log), "%s",
		       (const char *)sqlite3_column_text(at, 1));
	return 1;
}

/* Returns 1 if the host belongs to this store; other stores may share the database. */
static int is_ours(struct row_source *s, const char *host, struct failure *failure)
{
	int r;

	sqlite3_reset(s->name);
	(void)sqlite3_bind_text(s->name, 1, host, -1, SQLITE_STATIC);
	r = sqlite3_step(s->name);
	if (r == SQLITE_DONE)
		return 0;
	return r == SQLITE_ROW ? 1 : sql_failure(s, failure);
}

static int next_there(struct row_source *s, struct source_row *ret_row, struct failure *failure)
{
	int r = 1, ours = 0;

	while (r == 1 && ours == 0) {
		r = s->clickhouse ? clickhouse_rows_next(s->clickhouse, ret_row, failure) : 0;
		if (r == 1)
			ours = is_ours(s, ret_row->host, failure);
	}
	return ours < 0 ? ours : r;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare(const struct source_row *a, const struct source_row *b)
{
	int r = compare_numbers(a->time, b->time);

	if (r == 0)
		r = strcmp(a->host, b->host);
	if (r == 0)
		r = strcmp(a->log, b->log);
	return r == 0 ? compare_numbers(a->sequence, b->sequence) : r;
}

/* Returns the source with the next row; NULL if both are at the end. */
static struct head *choose(struct row_source *s)
{
	int r;

	if (s->here.state == 0 || s->there.state == 0)
		return s->here.state ? &s->here : s->there.state ? &s->there : NULL;
	r = compare(&s->here.row, &s->there.row);
	return (s->backwards ? -r : r) <= 0 ? &s->here : &s->there;
}

static int fill(struct row_source *s, struct failure *failure)
{
	int r = 0;

	if (s->here.state < 0)
		r = s->here.state = next_here(s, &s->here.row, failure);
	if (r >= 0 && s->there.state < 0)
		r = s->there.state = next_there(s, &s->there.row, failure);
	return r;
}

int row_source_next(struct row_source *s, struct source_row *ret_row, struct failure *failure)
{
	for (;;) {
		struct head *head;
		int r = fill(s, failure);

		if (r < 0)
			return r;
		head = choose(s);
		if (!head)
			return 0;
		head->state = -1;
		/*
		 * Skip duplicates: rows moved to ClickHouse meanwhile are in both, and resent rows
		 * are there twice.
		 */
		if (s->last.host[0] && compare(&head->row, &s->last) == 0)
			continue;
		s->last = head->row;
		*ret_row = head->row;
		return 1;
	}
}

const char *row_source_name(struct row_source *s, const char *host)
{
	return is_ours(s, host, NULL) > 0 ? (const char *)sqlite3_column_text(s->name, 0) : NULL;
}
