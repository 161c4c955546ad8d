/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the stream numbers of deferred messages. */
#include "fleet/store/later.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum statement {
	COUNT,
	ADD,
	MORE,
	LESS,
	HAS,
	ANY,
	NEXT_HOST,
	NEXT,
	TRY,
	DONE,
	HOLD,
	RELEASE,
	RELEASE_ALL,
	STATEMENT_COUNT,
};

static const char *const texts[STATEMENT_COUNT] = {
	[COUNT] = "SELECT count FROM later_counts WHERE host = ?1",
	[ADD] = "INSERT OR IGNORE INTO later VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8)",
	[MORE] = ("INSERT INTO later_counts VALUES(?1, 1)"
		  " ON CONFLICT DO UPDATE SET count = count + 1"),
	[LESS] = "UPDATE later_counts SET count = max(count - 1, 0) WHERE host = ?1",
	[HAS] = "SELECT 1 FROM later WHERE held = 0 AND host = ?1 LIMIT 1",
	[ANY] = "SELECT 1 FROM later WHERE held = 0 LIMIT 1",
	[NEXT_HOST] = "SELECT host FROM later WHERE held = 0 AND host > ?1 ORDER BY host LIMIT 1",
	[NEXT] = ("SELECT kind, number, tries FROM later WHERE held = 0 AND host = ?1"
		  " ORDER BY kind, number LIMIT ?2"),
	[TRY] = "UPDATE later SET tries = max(tries + ?3, 0) WHERE kind = ?1 AND number = ?2",
	[DONE] = "DELETE FROM later WHERE kind = ?1 AND number = ?2",
	[HOLD] =
		"UPDATE later SET held = 1, tries = 0, reason = ?3 WHERE kind = ?1 AND number = ?2",
	[RELEASE] =
		"UPDATE later SET held = 0 WHERE held = 1 AND host = ?1 AND log = ?2 AND first <= ?3",
	[RELEASE_ALL] = "UPDATE later SET held = 0 WHERE held = 1",
};

struct later {
	struct rows *rows;
	sqlite3_stmt *statements[STATEMENT_COUNT];
};

static int sql_failure(struct later *later, struct failure *failure)
{
	sqlite3 *database = rows_database(later->rows);

	return failure_set(failure, sqlite3_errcode(database) == SQLITE_FULL ? ENOSPC : EIO,
			   "cannot store the number of a deferred message: %s",
			   sqlite3_errmsg(database));
}

int later_open(struct rows *rows, struct later **ret_later, struct failure *failure)
{
	struct later *later = calloc(1, sizeof(*later));

	if (!later)
		return failure_set(failure, ENOMEM, "out of memory");
	later->rows = rows;
	for (unsigned int i = 0; i < STATEMENT_COUNT; i++) {
		if (sqlite3_prepare_v3(rows_database(rows), texts[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &later->statements[i], NULL) != SQLITE_OK) {
			int r = sql_failure(later, failure);

			later_close(later);
			return r;
		}
	}
	*ret_later = later;
	return 0;
}

void later_close(struct later *later)
{
	for (unsigned int i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(later->statements[i]);
	free(later);
}

#define NUMBER(value) ((sqlite3_int64)(value))

/* Binds parameters in order: 's' is text, 'i' a number. */
static sqlite3_stmt *use(struct later *later, enum statement number, const char *types, ...)
{
	sqlite3_stmt *statement = later->statements[number];
	va_list arguments;

	sqlite3_reset(statement);
	va_start(arguments, types);
	for (int i = 0; types[i]; i++) {
		if (types[i] == 's')
			(void)sqlite3_bind_text(statement, i + 1, va_arg(arguments, const char *),
						-1, SQLITE_STATIC);
		else
			(void)sqlite3_bind_int64(statement, i + 1,
						 va_arg(arguments, sqlite3_int64));
	}
	va_end(arguments);
	return statement;
}

static int run(struct later *later, sqlite3_stmt *statement, struct failure *failure)
{
	int r = sqlite3_step(statement) == SQLITE_DONE ? 0 : sql_failure(later, failure);

	sqlite3_reset(statement);
	return r;
}

/* Reads the first column of the first row; 0 without a row. */
static int read_number(struct later *later, sqlite3_stmt *statement, uint64_t *ret_number,
		       struct failure *failure)
{
	int step = sqlite3_step(statement);
	int r = step == SQLITE_ROW || step == SQLITE_DONE ? 0 : sql_failure(later, failure);

	*ret_number = step == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
	sqlite3_reset(statement);
	return r;
}

/* SQLite's integers are signed. */
static sqlite3_int64 bounded(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : NUMBER(number);
}

int later_add(struct later *later, enum later_kind kind, uint64_t number,
	      const struct delivery *delivery, bool held, const char *reason, uint64_t most,
	      struct failure *failure)
{
	uint64_t count;
	int r = read_number(later, use(later, COUNT, "s", delivery->host), &count, failure);

	if (r < 0)
		return r;
	if (count >= most)
		return rows_excess(later->rows, delivery->host, reason, failure);
	r = run(later,
		use(later, ADD, "iissiiis", NUMBER(kind), NUMBER(number), delivery->host,
		    delivery->log, bounded(delivery->first), bounded(delivery->last), NUMBER(held),
		    reason),
		failure);
	if (r < 0 || sqlite3_changes(rows_database(later->rows)) == 0)
		return r;
	return run(later, use(later, MORE, "s", delivery->host), failure);
}

int later_has(struct later *later, const char *host, struct failure *failure)
{
	uint64_t found;
	int r = read_number(later, use(later, HAS, "s", host), &found, failure);

	return r < 0 ? r : found > 0;
}

int later_any(struct later *later, struct failure *failure)
{
	uint64_t found;
	int r = read_number(later, use(later, ANY, ""), &found, failure);

	return r < 0 ? r : found > 0;
}

static int next_host(struct later *later, const char *after, char ret_host[DELIVERY_ID_SIZE],
		     struct failure *failure)
{
	sqlite3_stmt *statement = use(later, NEXT_HOST, "s", after);
	int step = sqlite3_step(statement);
	int r = step == SQLITE_ROW || step == SQLITE_DONE ? 0 : sql_failure(later, failure);

	ret_host[0] = '\0';
	if (step == SQLITE_ROW)
		(void)snprintf(ret_host, DELIVERY_ID_SIZE, "%s",
			       (const char *)sqlite3_column_text(statement, 0));
	sqlite3_reset(statement);
	return r;
}

static int read_entries(struct later *later, const char *host, struct later_entry *entries,
			size_t most, size_t *ret_count, struct failure *failure)
{
	sqlite3_stmt *statement = use(later, NEXT, "si", host, NUMBER(most));
	int step = SQLITE_DONE, r = 0;
	size_t count = 0;

	while (count < most && (step = sqlite3_step(statement)) == SQLITE_ROW) {
		struct later_entry *entry = &entries[count];

		entry->kind = (enum later_kind)sqlite3_column_int(statement, 0);
		entry->number = (uint64_t)sqlite3_column_int64(statement, 1);
		entry->tries = (unsigned int)sqlite3_column_int(statement, 2);
		(void)snprintf(entry->host, sizeof(entry->host), "%s", host);
		/*
		 * The store may have crashed while it read this message: read it alone, so that a
		 * crash affects no other.
		 */
		if (entry->tries > 0 && count > 0)
			break;
		count++;
		if (entry->tries > 0)
			break;
	}
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		r = sql_failure(later, failure);
	sqlite3_reset(statement);
	*ret_count = count;
	return r;
}

static int add_tries(struct later *later, const struct later_entry *entry, int tries,
		     struct failure *failure)
{
	return run(later,
		   use(later, TRY, "iii", NUMBER(entry->kind), NUMBER(entry->number),
		       NUMBER(tries)),
		   failure);
}

int later_next(struct later *later, const char *after, struct later_entry *entries, size_t most,
	       size_t *ret_count, struct failure *failure)
{
	char host[DELIVERY_ID_SIZE];
	int r = next_host(later, after, host, failure);

	*ret_count = 0;
	if (r == 0 && !host[0])
		r = next_host(later, "", host, failure);
	if (r == 0 && host[0])
		r = read_entries(later, host, entries, most, ret_count, failure);
	for (size_t i = 0; r == 0 && i < *ret_count; i++)
		r = add_tries(later, &entries[i], 1, failure);
	return r;
}

int later_put_back(struct later *later, const struct later_entry *entry, struct failure *failure)
{
	return add_tries(later, entry, -1, failure);
}

int later_done(struct later *later, const struct later_entry *entry, struct failure *failure)
{
	int r = run(later, use(later, DONE, "ii", NUMBER(entry->kind), NUMBER(entry->number)),
		    failure);

	return r < 0 ? r : run(later, use(later, LESS, "s", entry->host), failure);
}

int later_hold(struct later *later, const struct later_entry *entry, const char *reason,
	       struct failure *failure)
{
	return run(later,
		   use(later, HOLD, "iis", NUMBER(entry->kind), NUMBER(entry->number), reason),
		   failure);
}

int later_release(struct later *later, const char *host, const char *log, uint64_t next,
		  struct failure *failure)
{
	return run(later, use(later, RELEASE, "ssi", host, log, bounded(next)), failure);
}

int later_release_all(struct later *later, struct failure *failure)
{
	return run(later, use(later, RELEASE_ALL, ""), failure);
}
