/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects rows for ClickHouse, notes them before they are sent, and deletes them after they
 * arrived.
 */
#include "fleet/store/outgoing.h"

#include <string.h>

#include "audit/text/json_text.h"
#include "fleet/clickhouse/client.h"

/* Limits of a batch, and of one log in it. */
#define BATCH_ROWS_MAX	50000u
#define BATCH_BYTES_MAX (8u << 20)
#define LOG_ROWS_MAX	10000u
/* Logs considered for one batch. */
#define LOGS_MAX 1024

static void finalizep(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

void outgoing_release(struct outgoing *outgoing)
{
	buffer_free(&outgoing->lines);
}

static int sql_failure(struct outgoing *o, struct failure *failure)
{
	sqlite3 *database = rows_database(o->rows);

	return failure_set(failure, sqlite3_errcode(database) == SQLITE_FULL ? ENOSPC : EIO,
			   "cannot store which rows were sent to ClickHouse: %s",
			   sqlite3_errmsg(database));
}

static int prepare(struct outgoing *o, const char *sql, sqlite3_stmt **ret_statement,
		   struct failure *failure)
{
	return sqlite3_prepare_v2(rows_database(o->rows), sql, -1, ret_statement, NULL) == SQLITE_OK
		       ? 0
		       : sql_failure(o, failure);
}

static int run(struct outgoing *o, sqlite3_stmt *statement, struct failure *failure)
{
	int r = sqlite3_step(statement) == SQLITE_DONE ? 0 : sql_failure(o, failure);

	sqlite3_reset(statement);
	return r;
}

int outgoing_is_new(struct outgoing *o, struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = NULL;
	int r = prepare(o, "SELECT token FROM forwarding WHERE token != ''", &statement, failure);

	if (r < 0)
		return r;
	r = sqlite3_step(statement);
	if (r == SQLITE_DONE)
		return 1;
	return r == SQLITE_ROW ? 0 : sql_failure(o, failure);
}

static void bind_record(sqlite3_stmt *statement, const char *host, const char *log,
			uint64_t sequence)
{
	sqlite3_bind_text(statement, 1, host, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, log, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 3, (sqlite3_int64)sequence);
}

int outgoing_has(struct outgoing *o, const char *host, const char *log, uint64_t sequence,
		 struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = NULL;
	int r = prepare(
		o,
		"UPDATE logs SET sending = min(?3, contiguous)"
		" WHERE log = ?2 AND host = (SELECT id FROM hosts WHERE host = ?1) AND sent = 0",
		&statement, failure);

	if (r < 0)
		return r;
	bind_record(statement, host, log, sequence);
	return run(o, statement, failure);
}

int outgoing_lost(struct outgoing *o, const char *host, const char *log, uint64_t sequence,
		  uint64_t oldest, uint64_t *ret_sent, struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = NULL;
	char text[CLOCK_TEXT_SIZE];
	int r = prepare(o,
			"SELECT sent FROM logs WHERE sent > ?3 AND log = ?2 AND last_time >= ?4"
			" AND host = (SELECT id FROM hosts WHERE host = ?1)",
			&statement, failure);

	if (r < 0)
		return r;
	bind_record(statement, host, log, sequence);
	clock_format(oldest, text);
	sqlite3_bind_text(statement, 4, text, -1, SQLITE_STATIC);
	r = sqlite3_step(statement);
	if (r == SQLITE_ROW)
		*ret_sent = (uint64_t)sqlite3_column_int64(statement, 0);
	if (r == SQLITE_DONE)
		return 0;
	return r == SQLITE_ROW ? 1 : sql_failure(o, failure);
}

int outgoing_visit_sent(struct outgoing *o, uint64_t oldest,
			int (*visit)(void *data, const char *host, const char *log), void *data,
			struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = NULL;
	char text[CLOCK_TEXT_SIZE];
	int r = prepare(o,
			"SELECT h.host, l.log FROM logs l JOIN hosts h ON h.id = l.host"
			" WHERE l.sent > 0 AND l.last_time >= ?1",
			&statement, failure);
	int step = SQLITE_DONE;

	if (r < 0)
		return r;
	clock_format(oldest, text);
	sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
	while (r >= 0 && (step = sqlite3_step(statement)) == SQLITE_ROW)
		r = visit(data, (const char *)sqlite3_column_text(statement, 0),
			  (const char *)sqlite3_column_text(statement, 1));
	if (r >= 0 && step != SQLITE_DONE)
		r = sql_failure(o, failure);
	return r < 0 ? r : 0;
}

/* Gives the next batch a new token. */
static int name_batch(struct outgoing *o, struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = NULL;
	unsigned char id[16];
	int r = uuid_generate_v7(id);

	if (r < 0)
		return failure_set(failure, r, "cannot make an id: %m");
	uuid_format(id, o->token);
	r = prepare(o, "INSERT OR REPLACE INTO forwarding VALUES(1, ?1)", &statement, failure);
	if (r < 0)
		return r;
	sqlite3_bind_text(statement, 1, o->token, -1, SQLITE_STATIC);
	return run(o, statement, failure);
}

static int note_arrived(struct outgoing *o, struct failure *failure)
{
	/* Keep a log's last row, because it has the position of the log's next line. */
	static const char *const statements[] = {
		"DELETE FROM records WHERE (host, log, seq) IN (SELECT r.host, r.log, r.seq FROM logs l"
		" CROSS JOIN records r ON r.host = l.host AND r.log = l.id"
		" AND r.seq <= l.sending AND r.seq < l.contiguous AND r.segment > 0 WHERE l.sending > l.sent)",
		"UPDATE logs SET sent = sending WHERE sending > sent",
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(statements) && r == 0; i++) {
		_cleanup_(finalizep) sqlite3_stmt *statement = NULL;

		r = prepare(o, statements[i], &statement, failure);
		if (r == 0)
			r = run(o, statement, failure);
	}
	return r;
}

int outgoing_known(struct outgoing *o, struct failure *failure)
{
	int r = note_arrived(o, failure);

	return r == 0 ? name_batch(o, failure) : r;
}

static void add_member(struct buffer *out, const char *key, sqlite3_stmt *row, int column)
{
	json_text_key(out, key);
	(void)json_text_string(out, (const char *)sqlite3_column_text(row, column),
			       (size_t)sqlite3_column_bytes(row, column));
}

static void add_number(struct buffer *out, const char *key, sqlite3_stmt *row, int column)
{
	json_text_key(out, key);
	buffer_number(out, (uint64_t)sqlite3_column_int64(row, column));
}

enum { HOST, NAME, LOG, SEQUENCE, TIME, ACTION, SEGMENT = 12, OFFSET };

static void add_row(struct buffer *out, sqlite3_stmt *row)
{
	static const char *const texts[] = {"action", "execution", "policy",  "digest",
					    "rule",   "operation", "template"};
	char time[CLICKHOUSE_TIME_SIZE];

	buffer_literal(out, "{");
	add_member(out, "host", row, HOST);
	add_member(out, "name", row, NAME);
	add_member(out, "log", row, LOG);
	add_number(out, "seq", row, SEQUENCE);
	clickhouse_time((uint64_t)sqlite3_column_int64(row, TIME), time);
	json_text_key(out, "time");
	(void)json_text_string(out, time, strlen(time));
	for (int i = 0; i < (int)ARRAY_SIZE(texts); i++)
		add_member(out, texts[i], row, ACTION + i);
	add_number(out, "segment", row, SEGMENT);
	add_number(out, "offset", row, OFFSET);
	buffer_literal(out, "}\n");
}

static const char rows_sql[] =
	"SELECT h.host, coalesce(h.name, ''), l.log, r.seq, r.time, r.action, r.execution, r.policy, r.digest,"
	" r.rule, r.operation, r.template, r.segment, r.offset"
	" FROM logs l CROSS JOIN hosts h ON h.id = l.host CROSS JOIN records r ON r.host = l.host AND r.log = l.id"
	" WHERE l.id = ?1 AND r.seq > l.sent AND r.seq <= ?2 AND r.segment > 0 ORDER BY r.seq LIMIT ?3";

static bool has_room(const struct outgoing *o)
{
	return o->count < BATCH_ROWS_MAX && o->lines.size < BATCH_BYTES_MAX;
}

/*
 * Adds the rows of a log up to `last`. *ret_last: the last one added. `all`: repeats a noted batch,
 * with the same rows as before.
 */
static int add_log(struct outgoing *o, sqlite3_stmt *rows, int64_t log, uint64_t last, bool all,
		   uint64_t *ret_last, struct failure *failure)
{
	int step = SQLITE_ROW;

	sqlite3_reset(rows);
	sqlite3_bind_int64(rows, 1, log);
	sqlite3_bind_int64(rows, 2, (sqlite3_int64)last);
	sqlite3_bind_int64(rows, 3, all ? -1 : (sqlite3_int64)LOG_ROWS_MAX);
	*ret_last = 0;
	while ((all || has_room(o)) && (step = sqlite3_step(rows)) == SQLITE_ROW) {
		add_row(&o->lines, rows);
		*ret_last = (uint64_t)sqlite3_column_int64(rows, SEQUENCE);
		o->count++;
		if (o->lines.failed)
			return failure_set(failure, ENOMEM, "out of memory");
	}
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		return sql_failure(o, failure);
	o->full |= *ret_last < last;
	return 0;
}

struct log_turn {
	int64_t log;
	uint64_t last; /* last row that may be sent */
};

/* Lists the logs with unsent rows, beginning after the log sent last. */
static int list_logs(struct outgoing *o, const char *sql, struct log_turn *turns, size_t *ret_count,
		     struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = NULL;
	int r = prepare(o, sql, &statement, failure), step = SQLITE_DONE;
	size_t count = 0;

	if (r < 0)
		return r;
	sqlite3_bind_int64(statement, 1, o->after);
	while (count < LOGS_MAX && (step = sqlite3_step(statement)) == SQLITE_ROW)
		turns[count++] = (struct log_turn){
			.log = sqlite3_column_int64(statement, 0),
			.last = (uint64_t)sqlite3_column_int64(statement, 1),
		};
	if (count < LOGS_MAX && step != SQLITE_DONE)
		return sql_failure(o, failure);
	*ret_count = count;
	return 0;
}

static int note_sending(struct outgoing *o, sqlite3_stmt *note, int64_t log, uint64_t last,
			struct failure *failure)
{
	sqlite3_bind_int64(note, 1, log);
	sqlite3_bind_int64(note, 2, (sqlite3_int64)last);
	return run(o, note, failure);
}

/* `again`: repeats a noted batch. */
static int add_logs(struct outgoing *o, const struct log_turn *turns, size_t count, bool again,
		    struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *rows = NULL, *note = NULL;
	int r = prepare(o, rows_sql, &rows, failure);

	if (r == 0)
		r = prepare(o, "UPDATE logs SET sending = ?2 WHERE id = ?1", &note, failure);
	for (size_t i = 0; i < count && r == 0; i++) {
		uint64_t last;

		if (!again && !has_room(o)) {
			o->full = true;
			break;
		}
		r = add_log(o, rows, turns[i].log, turns[i].last, again, &last, failure);
		if (again || r < 0 || last == 0)
			continue;
		o->after = turns[i].log;
		r = note_sending(o, note, turns[i].log, last, failure);
	}
	return r;
}

static int read_token(struct outgoing *o, struct failure *failure)
{
	_cleanup_(finalizep) sqlite3_stmt *statement = NULL;
	int r = prepare(o, "SELECT token FROM forwarding", &statement, failure);

	if (r < 0)
		return r;
	if (sqlite3_step(statement) != SQLITE_ROW)
		return sql_failure(o, failure);
	(void)snprintf(o->token, sizeof(o->token), "%s",
		       (const char *)sqlite3_column_text(statement, 0));
	return 0;
}

/* `again`: only repeats a noted batch. */
static int make_batch(struct outgoing *o, bool again, struct failure *failure)
{
	static const char on_their_way[] =
		"SELECT id, sending FROM logs WHERE sending > sent AND ?1 IS NOT NULL ORDER BY id";
	static const char waiting[] =
		"SELECT id, contiguous FROM logs WHERE contiguous > sent ORDER BY id <= ?1, id";
	struct log_turn turns[LOGS_MAX];
	size_t count;
	int r = list_logs(o, on_their_way, turns, &count, failure);

	if (r < 0)
		return r;
	if (count > 0) {
		r = read_token(o, failure);
		return r == 0 ? add_logs(o, turns, count, true, failure) : r;
	}
	if (again)
		return 0;
	r = list_logs(o, waiting, turns, &count, failure);
	if (r < 0 || count == 0)
		return r;
	o->full = count == LOGS_MAX;
	r = name_batch(o, failure);
	return r == 0 ? add_logs(o, turns, count, false, failure) : r;
}

static int make(struct outgoing *o, bool again, struct failure *failure)
{
	int r = rows_begin(o->rows, failure);

	if (r < 0)
		return r;
	o->lines.size = 0;
	o->lines.failed = false;
	o->count = 0;
	o->full = false;
	r = make_batch(o, again, failure);
	if (r == 0 && o->count > 0)
		r = rows_commit(o->rows, failure);
	else
		rows_rollback(o->rows);
	if (r < 0)
		return r;
	return o->count > 0;
}

int outgoing_again(struct outgoing *o, struct failure *failure)
{
	return make(o, true, failure);
}

int outgoing_next(struct outgoing *o, struct failure *failure)
{
	return make(o, false, failure);
}

int outgoing_arrived(struct outgoing *o, struct failure *failure)
{
	int r = rows_begin(o->rows, failure);

	if (r == 0)
		r = note_arrived(o, failure);
	if (r == 0)
		return rows_commit(o->rows, failure);
	rows_rollback(o->rows);
	return r;
}
