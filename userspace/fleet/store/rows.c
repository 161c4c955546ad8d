/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of all hosts in SQLite, with one transaction per group of messages. */
#include "fleet/store/rows.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/sha256.h"
#include "fleet/store/rows_schema.h"

enum statement {
	ADD_HOST,
	GET_HOST,
	ADD_LOG,
	GET_LOG,
	LAST_PLACE,
	HEARD,
	NAME,
	GET_EARLY,
	DROP_EARLY,
	PUT_RECORD,
	PUT_EARLY_ROW,
	PUT_EARLY,
	CONTIGUOUS,
	GREW,
	SEND_AGAIN,
	ROLLUP,
	POLICY,
	OTHER_LOGS,
	PARKED,
	PARK,
	BYTES,
	ADD_BYTES,
	WAIT,
	PUT_WAITING,
	DUE,
	WAITED,
	DROP_WAITING,
	FIRST_WAITING,
	RETENTION,
	ANCHOR,
	ANCHORED,
	GIVE_UP,
	SKIP_TO,
	GIVEN_UP,
	TROUBLE,
	NO_TROUBLE,
	APART,
	APART_BYTES,
	EXCESS,
	PRESENCE,
	OVERDUE,
	ASKED,
	CLOSED,
	STATEMENT_COUNT,
};

static const char *const texts[STATEMENT_COUNT] = {
	[ADD_HOST] =
		"INSERT OR IGNORE INTO hosts(host, first_heard, last_heard) VALUES(?1, ?2, ?2)",
	[GET_HOST] = "SELECT id FROM hosts WHERE host = ?1",
	[ADD_LOG] = "INSERT OR IGNORE INTO logs(host, log, first_heard) VALUES(?1, ?2, ?3)",
	[GET_LOG] = "SELECT id, contiguous, first_heard FROM logs WHERE host = ?1 AND log = ?2",
	[LAST_PLACE] = ("SELECT segment, offset, size FROM records"
			" WHERE host = ?1 AND log = ?2 AND seq = ?3 AND segment > 0"),
	[HEARD] =
		"UPDATE hosts SET last_heard = max(last_heard, ?2), ahead = iif(?3 > 0, ?3 - ?2, ahead) WHERE id = ?1",
	[NAME] = "UPDATE hosts SET name = ?2 WHERE id = ?1",
	[GET_EARLY] = "SELECT line FROM early WHERE log = ?1 AND seq = ?2",
	[DROP_EARLY] = "DELETE FROM early WHERE log = ?1 AND seq = ?2",
	[PUT_RECORD] =
		"INSERT OR REPLACE INTO records VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
	[PUT_EARLY_ROW] =
		"INSERT OR IGNORE INTO records VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, NULL, NULL, NULL)",
	[PUT_EARLY] = "INSERT OR IGNORE INTO early VALUES(?1, ?2, ?3)",
	[CONTIGUOUS] = ("UPDATE logs SET contiguous = ?2, bytes = bytes + ?3, last_time = ?4,"
			" last_action = ?5, sealed = iif(?5 = 'seal', ?2, sealed) WHERE id = ?1"),
	[GREW] = "UPDATE logs SET last_grown = ?2 WHERE id = ?1",
	[SEND_AGAIN] = "UPDATE logs SET sent = ?2, sending = ?2 WHERE id = ?1",
	[ROLLUP] = ("INSERT INTO rollups VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, 1)"
		    " ON CONFLICT DO UPDATE SET count = count + 1"),
	[POLICY] = ("INSERT INTO policies VALUES(?1, ?2, ?3, ?4, ?4, 1) ON CONFLICT DO UPDATE SET"
		    " last_time = max(last_time, ?4), records = records + 1"),
	[OTHER_LOGS] =
		("SELECT count(*) FROM logs l JOIN hosts h ON h.id = l.host WHERE h.host = ?1"
		 " AND NOT EXISTS(SELECT 1 FROM logs m WHERE m.host = h.id AND m.log = ?2)"),
	[PARKED] = "SELECT parked FROM hosts WHERE id = ?1",
	[PARK] = "UPDATE hosts SET parked = max(parked + ?2, 0) WHERE id = ?1",
	[BYTES] = "SELECT coalesce(sum(bytes), 0) FROM logs WHERE host = ?1",
	[ADD_BYTES] = "UPDATE logs SET bytes = bytes + ?2 WHERE id = ?1",
	[WAIT] = ("INSERT OR IGNORE INTO waiting(log, first, last, at, digest, data)"
		  " VALUES(?1, ?2, ?3, ?4, ?5, ?6)"),
	[PUT_WAITING] =
		"INSERT OR IGNORE INTO records VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
	[DUE] = ("SELECT id, first, last, at, data FROM waiting WHERE log = ?1 AND first <= ?2"
		 " ORDER BY first LIMIT 1"),
	[WAITED] = "DELETE FROM waiting WHERE id = ?1",
	[DROP_WAITING] =
		("DELETE FROM records WHERE host = ?1 AND log = ?2 AND seq BETWEEN ?3 AND ?4"
		 " AND segment = ?5"),
	[FIRST_WAITING] = ("SELECT first, at FROM waiting WHERE log = ?1 AND first > ?2"
			   " ORDER BY first LIMIT 1"),
	[RETENTION] = "INSERT OR IGNORE INTO retention VALUES(?1, ?2, ?3)",
	[ANCHOR] = ("SELECT r.last, r.chain, w.at FROM retention r JOIN waiting w"
		    " ON w.log = r.log AND w.first = r.last + 1"
		    " WHERE r.log = ?1 AND r.last > ?2 ORDER BY r.last LIMIT 1"),
	[ANCHORED] = ("SELECT DISTINCT h.host, l.log FROM retention r JOIN logs l ON l.id = r.log"
		      " JOIN hosts h ON h.id = l.host JOIN waiting w ON w.log = r.log"
		      " AND w.first = r.last + 1 WHERE r.last > l.contiguous"),
	[GIVE_UP] = "INSERT OR IGNORE INTO holes VALUES(?1, ?2, ?3, ?4, ?5)",
	[SKIP_TO] = "UPDATE logs SET contiguous = ?2 WHERE id = ?1",
	[GIVEN_UP] = "SELECT 1 FROM holes WHERE log = ?1 AND first <= ?2 AND last >= ?2",
	[TROUBLE] = "INSERT OR REPLACE INTO troubles VALUES(?1, ?2, ?3, ?4)",
	[NO_TROUBLE] = "DELETE FROM troubles WHERE host = ?1 AND log = ?2",
	[APART] = "INSERT OR IGNORE INTO apart VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
	[APART_BYTES] = "SELECT coalesce(sum(bytes), 0), count(*) FROM apart WHERE host = ?1",
	[EXCESS] = ("INSERT INTO excess VALUES(?1, 1, ?2)"
		    " ON CONFLICT DO UPDATE SET count = count + 1, reason = ?2"),
	[PRESENCE] =
		("INSERT OR REPLACE INTO presence(host, log, state, daemon, acknowledged, every, at)"
		 " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
	[OVERDUE] =
		("SELECT h.id, h.host FROM presence p JOIN hosts h ON h.id = p.host"
		 " WHERE p.asked = 0 AND p.state = ?3 AND p.at >= ?1 AND p.at + 2 * p.every < ?2 LIMIT 1"),
	[ASKED] = "UPDATE presence SET asked = 1 WHERE host = ?1",
	[CLOSED] =
		"UPDATE presence SET closed = ?2 WHERE asked = 1 AND host = (SELECT id FROM hosts WHERE host = ?1)",
};

struct rows {
	sqlite3 *database;
	sqlite3_stmt *statements[STATEMENT_COUNT];
	char path[PATH_MAX];
	bool counted_elsewhere;
};

static int sql_failure(struct rows *rows, struct failure *failure)
{
	int code = sqlite3_errcode(rows->database);
	int error = code == SQLITE_FULL ? ENOSPC : code == SQLITE_BUSY ? EBUSY : EIO;

	return failure_set(
		failure, error, "%s: %s%s", rows->path, sqlite3_errmsg(rows->database),
		error == ENOSPC
			? "; free disk space, then start the store again: unacknowledged messages "
			  "are sent again"
		: error == EBUSY ? "; another store writes there, stop it"
				 : "");
}

static sqlite3_stmt *use(struct rows *rows, enum statement number)
{
	sqlite3_reset(rows->statements[number]);
	return rows->statements[number];
}

/* Binds parameters in order: 's' is text, 'i' a number. */
static void bind(sqlite3_stmt *statement, const char *types, ...)
{
	va_list arguments;

	va_start(arguments, types);
	for (int i = 0; types[i]; i++) {
		if (types[i] == 's')
			sqlite3_bind_text(statement, i + 1, va_arg(arguments, const char *), -1,
					  SQLITE_STATIC);
		else
			sqlite3_bind_int64(statement, i + 1, va_arg(arguments, sqlite3_int64));
	}
	va_end(arguments);
}

#define NUMBER(value) ((sqlite3_int64)(value))

/* Runs a statement without a result row. */
static int run(struct rows *rows, sqlite3_stmt *statement, struct failure *failure)
{
	int r = sqlite3_step(statement);

	if (r != SQLITE_DONE)
		r = sql_failure(rows, failure);
	else
		r = 0;
	sqlite3_reset(statement);
	return r;
}

/* Returns 1 if there is a row, with the statement still active, otherwise 0. */
static int first_row(struct rows *rows, sqlite3_stmt *statement, struct failure *failure)
{
	int r = sqlite3_step(statement);

	if (r == SQLITE_ROW)
		return 1;
	if (r != SQLITE_DONE)
		return sql_failure(rows, failure);
	sqlite3_reset(statement);
	return 0;
}

static uint64_t column(sqlite3_stmt *statement, int number)
{
	return (uint64_t)sqlite3_column_int64(statement, number);
}

static int execute(struct rows *rows, const char *sql, struct failure *failure)
{
	return sqlite3_exec(rows->database, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : sql_failure(rows, failure);
}

static int check_version(struct rows *rows, bool write, struct failure *failure)
{
	sqlite3_stmt *statement;
	int version = -1;

	if (sqlite3_prepare_v2(rows->database, "PRAGMA user_version", -1, &statement, NULL) !=
	    SQLITE_OK)
		return sql_failure(rows, failure);
	if (sqlite3_step(statement) == SQLITE_ROW)
		version = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	if (version == ROWS_VERSION)
		return 0;
	if (version < 0)
		return failure_set(
			failure, EBADMSG,
			"%s is no database: move it away, the store makes a new one from its logs",
			rows->path);
	if ((version == 0 || version == 3) && write) {
		int r = execute(rows, "BEGIN IMMEDIATE", failure);

		if (r == 0)
			r = execute(rows, version == 0 ? rows_schema : rows_upgrade_3, failure);
		return r == 0 ? execute(rows, "COMMIT", failure) : r;
	}
	return failure_set(
		failure, EBADMSG,
		"%s is of another version of cordon-fleet: move it away, the store makes a new one from its logs",
		rows->path);
}

static int open_database(struct rows *rows, bool write, struct failure *failure)
{
	int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY, r;

	if (!write && access(rows->path, F_OK) < 0)
		return failure_set(
			failure, errno,
			"cannot open %s: %m; is it a store's directory? `cordon-fleet store` makes one",
			rows->path);
	if (sqlite3_open_v2(rows->path, &rows->database, flags, NULL) != SQLITE_OK)
		return sql_failure(rows, failure);
	sqlite3_busy_timeout(rows->database, 5000);
	r = write ? execute(rows, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", failure)
		  : 0;
	if (r == 0)
		r = check_version(rows, write, failure);
	for (unsigned int i = 0; r == 0 && write && i < STATEMENT_COUNT; i++)
		if (sqlite3_prepare_v3(rows->database, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &rows->statements[i], NULL) != SQLITE_OK)
			r = sql_failure(rows, failure);
	return r;
}

int rows_open(const char *directory, bool write, struct rows **ret_rows, struct failure *failure)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	int r;

	if (!rows)
		return failure_set(failure, ENOMEM, "out of memory");
	if (snprintf(rows->path, sizeof(rows->path), "%s/" ROWS_NAME, directory) >=
	    (int)sizeof(rows->path))
		r = failure_set(failure, ENAMETOOLONG, "%s: %m", directory);
	else
		r = open_database(rows, write, failure);
	if (r < 0) {
		rows_close(rows);
		return r;
	}
	*ret_rows = rows;
	return 0;
}

void rows_close(struct rows *rows)
{
	for (unsigned int i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(rows->statements[i]);
	sqlite3_close(rows->database);
	free(rows);
}

sqlite3 *rows_database(struct rows *rows)
{
	return rows->database;
}

int rows_count_elsewhere(struct rows *rows, struct failure *failure)
{
	rows->counted_elsewhere = true;
	return execute(rows, "INSERT OR IGNORE INTO forwarding VALUES(1, '')", failure);
}

int rows_begin(struct rows *rows, struct failure *failure)
{
	return execute(rows, "BEGIN IMMEDIATE", failure);
}

int rows_commit(struct rows *rows, struct failure *failure)
{
	return execute(rows, "COMMIT", failure);
}

void rows_rollback(struct rows *rows)
{
	(void)execute(rows, "ROLLBACK", NULL);
}

static int park(struct rows *rows, const struct rows_log *log, int64_t bytes,
		struct failure *failure)
{
	bind(use(rows, PARK), "ii", NUMBER(log->host), NUMBER(bytes));
	return run(rows, rows->statements[PARK], failure);
}

static int find_id(struct rows *rows, enum statement number, int64_t *ret_id,
		   struct failure *failure)
{
	int r = first_row(rows, rows->statements[number], failure);

	if (r == 0)
		return failure_set(failure, EIO, "%s: a row that was added is not there",
				   rows->path);
	if (r > 0)
		*ret_id = sqlite3_column_int64(rows->statements[number], 0);
	return r < 0 ? r : 0;
}

static void read_last_place(struct rows *rows, struct rows_log *log)
{
	sqlite3_stmt *last = use(rows, LAST_PLACE);

	bind(last, "iii", NUMBER(log->host), NUMBER(log->log), NUMBER(log->contiguous));
	if (first_row(rows, last, NULL) <= 0)
		return;
	log->segment = column(last, 0);
	log->offset = column(last, 1);
	log->size = column(last, 2);
	sqlite3_reset(last);
}

int rows_log(struct rows *rows, const char *host, const char *log, uint64_t now,
	     struct rows_log *ret_log, struct failure *failure)
{
	struct rows_log found = {};
	int r;

	bind(use(rows, ADD_HOST), "si", host, NUMBER(now));
	r = run(rows, rows->statements[ADD_HOST], failure);
	bind(use(rows, GET_HOST), "s", host);
	if (r == 0)
		r = find_id(rows, GET_HOST, &found.host, failure);
	bind(use(rows, ADD_LOG), "isi", NUMBER(found.host), log, NUMBER(now));
	if (r == 0)
		r = run(rows, rows->statements[ADD_LOG], failure);
	bind(use(rows, GET_LOG), "is", NUMBER(found.host), log);
	if (r == 0)
		r = find_id(rows, GET_LOG, &found.log, failure);
	if (r < 0)
		return r;
	found.contiguous = column(rows->statements[GET_LOG], 1);
	found.first_heard = column(rows->statements[GET_LOG], 2);
	sqlite3_reset(rows->statements[GET_LOG]);
	read_last_place(rows, &found);
	*ret_log = found;
	return 0;
}

int rows_host(struct rows *rows, const char *host, uint64_t now, struct failure *failure)
{
	bind(use(rows, ADD_HOST), "si", host, NUMBER(now));
	return run(rows, rows->statements[ADD_HOST], failure);
}

int rows_heard(struct rows *rows, const struct rows_log *log, uint64_t now, uint64_t newest,
	       struct failure *failure)
{
	bind(use(rows, HEARD), "iii", NUMBER(log->host), NUMBER(now), NUMBER(newest));
	return run(rows, rows->statements[HEARD], failure);
}

int rows_name(struct rows *rows, const struct rows_log *log, const char *name,
	      struct failure *failure)
{
	bind(use(rows, NAME), "is", NUMBER(log->host), name);
	return run(rows, rows->statements[NAME], failure);
}

/* Digits of a digest that a row has. */
#define DIGEST_DIGITS 16

static void bind_row(sqlite3_stmt *statement, const struct rows_log *log, const struct row *row)
{
	uint64_t time = 0;

	(void)clock_parse(row->time, &time);
	bind(statement, "iiiisss", NUMBER(log->host), NUMBER(log->log), NUMBER(row->sequence),
	     NUMBER(time), row->action, row->execution, row->policy);
	(void)sqlite3_bind_text(statement, 8, row->digest, (int)strnlen(row->digest, DIGEST_DIGITS),
				SQLITE_STATIC);
	(void)sqlite3_bind_text(statement, 9, row->rule, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(statement, 10, row->operation, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(statement, 11, row->template, -1, SQLITE_STATIC);
}

/*
 * Deletes the early record with this number. *ret_early: its line if it differs from the log's,
 * otherwise NULL.
 */
static int take_early(struct rows *rows, const struct rows_log *log, uint64_t sequence,
		      const char *line, size_t size, char **ret_early, struct failure *failure)
{
	sqlite3_stmt *get = use(rows, GET_EARLY);
	int64_t early;
	int r;

	*ret_early = NULL;
	bind(get, "ii", NUMBER(log->log), NUMBER(sequence));
	r = first_row(rows, get, failure);
	if (r <= 0)
		return r;
	early = sqlite3_column_bytes(get, 0);
	if ((size_t)early != size || memcmp(sqlite3_column_blob(get, 0), line, size) != 0)
		*ret_early = strndup(sqlite3_column_blob(get, 0), (size_t)early);
	sqlite3_reset(get);
	bind(use(rows, DROP_EARLY), "ii", NUMBER(log->log), NUMBER(sequence));
	r = run(rows, rows->statements[DROP_EARLY], failure);
	return r == 0 ? park(rows, log, -early - ROWS_PARKED_RECORD, failure) : r;
}

static int count_row(struct rows *rows, const struct rows_log *log, const struct row *row,
		     struct failure *failure)
{
	char hour[sizeof("2026-01-31 12:00:00")];
	int r = 0;

	(void)snprintf(hour, sizeof(hour), "%.10s %.2s:00:00", row->time,
		       strlen(row->time) > 11 ? row->time + 11 : "");
	if (row->operation[0] && !rows->counted_elsewhere) {
		bind(use(rows, ROLLUP), "sisssss", hour, NUMBER(log->host), row->action,
		     row->policy, row->rule, row->operation, row->template);
		r = run(rows, rows->statements[ROLLUP], failure);
	}
	if (r == 0 && row->digest[0]) {
		bind(use(rows, POLICY), "isss", NUMBER(log->host), row->policy, row->digest,
		     row->time);
		r = run(rows, rows->statements[POLICY], failure);
	}
	return r;
}

int rows_restore(struct rows *rows, const struct rows_log *log, const struct row *row,
		 uint64_t segment, uint64_t offset, size_t size, struct failure *failure)
{
	sqlite3_stmt *put = use(rows, PUT_RECORD);

	bind_row(put, log, row);
	sqlite3_bind_int64(put, 12, NUMBER(segment));
	sqlite3_bind_int64(put, 13, NUMBER(offset));
	sqlite3_bind_int64(put, 14, NUMBER(size));
	return run(rows, put, failure);
}

int rows_send_again(struct rows *rows, const struct rows_log *log, uint64_t sequence,
		    struct failure *failure)
{
	bind(use(rows, SEND_AGAIN), "ii", NUMBER(log->log), NUMBER(sequence));
	return run(rows, rows->statements[SEND_AGAIN], failure);
}

int rows_add(struct rows *rows, struct rows_log *log, const struct row *row, uint64_t segment,
	     uint64_t offset, const char *line, size_t size, char **ret_early,
	     struct failure *failure)
{
	int r = take_early(rows, log, row->sequence, line, size, ret_early, failure);

	if (r == 0)
		r = rows_restore(rows, log, row, segment, offset, size, failure);
	if (r == 0)
		r = count_row(rows, log, row, failure);
	bind(use(rows, CONTIGUOUS), "iiiss", NUMBER(log->log), NUMBER(row->sequence), NUMBER(size),
	     row->time, row->action);
	if (r == 0)
		r = run(rows, rows->statements[CONTIGUOUS], failure);
	if (r < 0) {
		free(*ret_early);
		*ret_early = NULL;
		return r;
	}
	log->contiguous = row->sequence;
	log->segment = segment;
	log->offset = offset;
	log->size = size;
	return 0;
}

int rows_grew(struct rows *rows, const struct rows_log *log, uint64_t now, struct failure *failure)
{
	bind(use(rows, GREW), "ii", NUMBER(log->log), NUMBER(now));
	return run(rows, rows->statements[GREW], failure);
}

int rows_add_early(struct rows *rows, const struct rows_log *log, const struct row *row,
		   const char *line, size_t size, struct failure *failure)
{
	sqlite3_stmt *put = use(rows, PUT_EARLY);
	int r;

	bind_row(use(rows, PUT_EARLY_ROW), log, row);
	r = run(rows, rows->statements[PUT_EARLY_ROW], failure);
	/* The row exists: the log has the record, or it arrived early before. */
	if (r < 0 || sqlite3_changes(rows->database) == 0)
		return r;
	bind(put, "ii", NUMBER(log->log), NUMBER(row->sequence));
	sqlite3_bind_blob(put, 3, line, (int)size, SQLITE_STATIC);
	r = run(rows, put, failure);
	return r == 0 ? park(rows, log, (int64_t)size + ROWS_PARKED_RECORD, failure) : r;
}

static int sum(struct rows *rows, enum statement number, uint64_t *ret_sum, struct failure *failure)
{
	int r = first_row(rows, rows->statements[number], failure);

	if (r <= 0)
		return r;
	*ret_sum = column(rows->statements[number], 0);
	sqlite3_reset(rows->statements[number]);
	return 0;
}

int rows_other_logs(struct rows *rows, const char *host, const char *log, uint64_t *ret_count,
		    struct failure *failure)
{
	bind(use(rows, OTHER_LOGS), "ss", host, log);
	return sum(rows, OTHER_LOGS, ret_count, failure);
}

int rows_parked(struct rows *rows, const struct rows_log *log, uint64_t *ret_bytes,
		struct failure *failure)
{
	bind(use(rows, PARKED), "i", NUMBER(log->host));
	return sum(rows, PARKED, ret_bytes, failure);
}

int rows_bytes(struct rows *rows, const struct rows_log *log, uint64_t *ret_bytes,
	       struct failure *failure)
{
	bind(use(rows, BYTES), "i", NUMBER(log->host));
	return sum(rows, BYTES, ret_bytes, failure);
}

int rows_add_bytes(struct rows *rows, const struct rows_log *log, uint64_t bytes,
		   struct failure *failure)
{
	bind(use(rows, ADD_BYTES), "ii", NUMBER(log->log), NUMBER(bytes));
	return run(rows, rows->statements[ADD_BYTES], failure);
}

/* Returns the bytes that a waiting message counts towards its host's quota. */
static int64_t weight_of(const struct rows_waiting *w)
{
	return (int64_t)(w->size + ROWS_PARKED_RECORD * (w->last - w->first + 1));
}

int rows_wait(struct rows *rows, const struct rows_log *log, const struct rows_waiting *waiting,
	      int64_t *ret_id, struct failure *failure)
{
	unsigned char digest[SHA256_SIZE];
	sqlite3_stmt *wait = use(rows, WAIT);
	int r = sha256_of(waiting->data, waiting->size, digest);

	*ret_id = 0;
	if (r < 0)
		return failure_set(failure, r, "cannot compute SHA-256: %m");
	bind(wait, "iiii", NUMBER(log->log), NUMBER(waiting->first), NUMBER(waiting->last),
	     NUMBER(waiting->since));
	sqlite3_bind_blob(wait, 5, digest, sizeof(digest), SQLITE_STATIC);
	sqlite3_bind_blob(wait, 6, waiting->data, (int)waiting->size, SQLITE_STATIC);
	r = run(rows, wait, failure);
	if (r < 0 || sqlite3_changes(rows->database) == 0)
		return r;
	*ret_id = sqlite3_last_insert_rowid(rows->database);
	return park(rows, log, weight_of(waiting), failure);
}

int rows_add_waiting(struct rows *rows, const struct rows_log *log, const struct row *row,
		     int64_t id, uint64_t offset, size_t size, struct failure *failure)
{
	sqlite3_stmt *put = use(rows, PUT_WAITING);

	bind_row(put, log, row);
	sqlite3_bind_int64(put, 12, -id);
	sqlite3_bind_int64(put, 13, NUMBER(offset));
	sqlite3_bind_int64(put, 14, NUMBER(size));
	return run(rows, put, failure);
}

int rows_due(struct rows *rows, const struct rows_log *log, uint64_t next,
	     struct rows_waiting *ret_waiting, struct failure *failure)
{
	sqlite3_stmt *due = use(rows, DUE);
	struct rows_waiting waiting;
	int r;

	bind(due, "ii", NUMBER(log->log), NUMBER(next));
	r = first_row(rows, due, failure);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	waiting = (struct rows_waiting){
		.id = sqlite3_column_int64(due, 0),
		.first = column(due, 1),
		.last = column(due, 2),
		.since = column(due, 3),
		.size = (size_t)sqlite3_column_bytes(due, 4),
	};
	waiting.data = malloc(waiting.size + 1);
	if (waiting.data) {
		memcpy(waiting.data, sqlite3_column_blob(due, 4), waiting.size);
		*ret_waiting = waiting;
	}
	sqlite3_reset(due);
	return waiting.data ? 0 : failure_set(failure, ENOMEM, "out of memory");
}

int rows_waited(struct rows *rows, const struct rows_log *log, const struct rows_waiting *waiting,
		struct failure *failure)
{
	int r;

	bind(use(rows, WAITED), "i", NUMBER(waiting->id));
	r = run(rows, rows->statements[WAITED], failure);
	bind(use(rows, DROP_WAITING), "iiiii", NUMBER(log->host), NUMBER(log->log),
	     NUMBER(waiting->first), NUMBER(waiting->last), NUMBER(-waiting->id));
	if (r == 0)
		r = run(rows, rows->statements[DROP_WAITING], failure);
	return r == 0 ? park(rows, log, -weight_of(waiting), failure) : r;
}

int rows_first_waiting(struct rows *rows, const struct rows_log *log, uint64_t *ret_first,
		       uint64_t *ret_since, struct failure *failure)
{
	sqlite3_stmt *first = use(rows, FIRST_WAITING);
	int r;

	bind(first, "ii", NUMBER(log->log), NUMBER(log->contiguous));
	r = first_row(rows, first, failure);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret_first = column(first, 0);
	*ret_since = column(first, 1);
	sqlite3_reset(first);
	return 0;
}

int rows_retention(struct rows *rows, const struct rows_log *log, uint64_t last, const char *chain,
		   struct failure *failure)
{
	bind(use(rows, RETENTION), "iis", NUMBER(log->log), NUMBER(last), chain);
	return run(rows, rows->statements[RETENTION], failure);
}

int rows_anchor(struct rows *rows, const struct rows_log *log, uint64_t *ret_last,
		uint64_t *ret_since, char ret_chain[65])
{
	sqlite3_stmt *anchor = use(rows, ANCHOR);

	bind(anchor, "ii", NUMBER(log->log), NUMBER(log->contiguous));
	if (first_row(rows, anchor, NULL) <= 0)
		return -ENOENT;
	*ret_last = column(anchor, 0);
	(void)snprintf(ret_chain, 65, "%s", (const char *)sqlite3_column_text(anchor, 1));
	*ret_since = column(anchor, 2);
	sqlite3_reset(anchor);
	return 0;
}

int rows_anchored(struct rows *rows, int (*visit)(void *data, const char *host, const char *log),
		  void *data, struct failure *failure)
{
	sqlite3_stmt *anchored = use(rows, ANCHORED);
	int r = 0, step = SQLITE_DONE;

	while (r == 0 && (step = sqlite3_step(anchored)) == SQLITE_ROW)
		r = visit(data, (const char *)sqlite3_column_text(anchored, 0),
			  (const char *)sqlite3_column_text(anchored, 1));
	if (r == 0 && step != SQLITE_DONE)
		r = sql_failure(rows, failure);
	sqlite3_reset(anchored);
	return r;
}

int rows_give_up(struct rows *rows, struct rows_log *log, uint64_t first, uint64_t last,
		 uint64_t now, const char *reason, struct failure *failure)
{
	int r;

	bind(use(rows, GIVE_UP), "iiiis", NUMBER(log->log), NUMBER(first), NUMBER(last),
	     NUMBER(now), reason);
	r = run(rows, rows->statements[GIVE_UP], failure);
	bind(use(rows, SKIP_TO), "ii", NUMBER(log->log), NUMBER(last));
	if (r == 0)
		r = run(rows, rows->statements[SKIP_TO], failure);
	if (r == 0)
		log->contiguous = last;
	return r;
}

int rows_is_given_up(struct rows *rows, const struct rows_log *log, uint64_t sequence,
		     struct failure *failure)
{
	uint64_t found = 0;
	int r;

	bind(use(rows, GIVEN_UP), "ii", NUMBER(log->log), NUMBER(sequence));
	r = sum(rows, GIVEN_UP, &found, failure);
	return r < 0 ? r : found > 0;
}

int rows_trouble(struct rows *rows, const char *host, const char *log, uint64_t now,
		 const char *reason, struct failure *failure)
{
	bind(use(rows, TROUBLE), "ssis", host, log, NUMBER(now), reason);
	return run(rows, rows->statements[TROUBLE], failure);
}

int rows_no_trouble(struct rows *rows, const char *host, const char *log, struct failure *failure)
{
	int r;

	bind(use(rows, NO_TROUBLE), "ss", host, log);
	r = run(rows, rows->statements[NO_TROUBLE], failure);
	return r < 0 ? r : sqlite3_changes(rows->database) > 0;
}

int rows_apart(struct rows *rows, const char *host, const char *log, uint64_t now,
	       const char *reason, const char *file, uint64_t bytes, struct failure *failure)
{
	bind(use(rows, APART), "ssissi", host, log, NUMBER(now), reason, file, NUMBER(bytes));
	return run(rows, rows->statements[APART], failure);
}

int rows_apart_bytes(struct rows *rows, const char *host, uint64_t *ret_bytes, uint64_t *ret_files,
		     struct failure *failure)
{
	sqlite3_stmt *bytes = use(rows, APART_BYTES);
	int r;

	bind(bytes, "s", host);
	r = first_row(rows, bytes, failure);
	if (r <= 0)
		return r;
	*ret_bytes = column(bytes, 0);
	*ret_files = column(bytes, 1);
	sqlite3_reset(bytes);
	return 0;
}

int rows_excess(struct rows *rows, const char *host, const char *reason, struct failure *failure)
{
	bind(use(rows, EXCESS), "ss", host, reason);
	return run(rows, rows->statements[EXCESS], failure);
}

int rows_presence(struct rows *rows, const struct presence *presence, struct failure *failure)
{
	int64_t host = 0;
	int r;

	bind(use(rows, ADD_HOST), "si", presence->host, NUMBER(presence->at));
	r = run(rows, rows->statements[ADD_HOST], failure);
	bind(use(rows, GET_HOST), "s", presence->host);
	if (r == 0)
		r = find_id(rows, GET_HOST, &host, failure);
	if (r < 0)
		return r;
	sqlite3_reset(rows->statements[GET_HOST]);
	bind(use(rows, PRESENCE), "isiiiii", NUMBER(host), presence->log, NUMBER(presence->state),
	     NUMBER(presence->daemon), NUMBER(presence->acknowledged), NUMBER(presence->every),
	     NUMBER(presence->at));
	return run(rows, rows->statements[PRESENCE], failure);
}

int rows_overdue(struct rows *rows, uint64_t after, uint64_t before,
		 char ret_host[DELIVERY_ID_SIZE], struct failure *failure)
{
	sqlite3_stmt *overdue = use(rows, OVERDUE);
	char host[DELIVERY_ID_SIZE];
	int64_t id;
	int r;

	bind(overdue, "iii", NUMBER(after), NUMBER(before), NUMBER(PRESENCE_SHIPPING));
	r = first_row(rows, overdue, failure);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	id = sqlite3_column_int64(overdue, 0);
	(void)snprintf(host, sizeof(host), "%s", (const char *)sqlite3_column_text(overdue, 1));
	sqlite3_reset(overdue);
	bind(use(rows, ASKED), "i", NUMBER(id));
	r = run(rows, rows->statements[ASKED], failure);
	if (r == 0)
		memcpy(ret_host, host, sizeof(host));
	return r;
}

int rows_closed(struct rows *rows, const char *host, uint64_t now, struct failure *failure)
{
	bind(use(rows, CLOSED), "si", host, NUMBER(now));
	return run(rows, rows->statements[CLOSED], failure);
}
