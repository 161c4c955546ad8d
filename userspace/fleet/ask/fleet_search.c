/* SPDX-License-Identifier: Apache-2.0 */
/* Narrows by the rows, reads each record from its host's log, and asks whether it matches. */
#include "fleet/ask/fleet_search.h"

#include <limits.h>
#include <string.h>

#include "audit/storage/chain.h"
#include "audit/text/buffer.h"
#include "base/clock.h"
#include "fleet/store/host_log.h"

enum parameter { HOST = 1, SINCE, UNTIL, EXECUTION, POLICY, OPERATION, ACTION, SEQUENCE };

/* Each says less than the question does, never more. */
static void write_sql(const struct fleet_search *s, struct buffer *sql)
{
	static const char *const verdicts[] = {
		[AUDIT_VERDICT_DENIED] =
			" AND r.action IN ('denial', 'attempt', 'execution-refused')",
		[AUDIT_VERDICT_WOULD_DENY] = " AND r.action = 'would-deny'",
		[AUDIT_VERDICT_ALLOWED] = " AND r.action IN ('open', 'connect', 'process-exec')",
	};
	const struct audit_query *q = s->query;
	const struct {
		bool asked;
		const char *condition;
	} conditions[] = {
		{q->since, " AND r.time >= ?2"},
		{q->until, " AND r.time <= ?3"},
		{q->execution,
		 " AND r.execution != '' AND r.execution >= ?4 AND r.execution < ?4 || '~'"},
		{q->policy, " AND (r.policy = ?5 OR r.digest LIKE substr(?5, 1, 16) || '%')"},
		{q->operation, " AND r.operation = ?6"},
		{q->action, " AND r.action = ?7"},
		{q->sequence > 0, " AND r.seq = ?8"},
	};

	buffer_literal(
		sql,
		"SELECT h.host, h.name, l.log, r.seq, r.segment, r.offset, e.line, r.log FROM records r"
		" JOIN hosts h ON h.id = r.host JOIN logs l ON l.id = r.log"
		" LEFT JOIN early e ON r.segment IS NULL AND e.log = r.log AND e.seq = r.seq WHERE 1");
	if (s->host)
		buffer_literal(sql, " AND (h.name = ?1 OR substr(h.host, 1, length(?1)) = ?1)");
	for (size_t i = 0; !s->no_index && i < ARRAY_SIZE(conditions); i++)
		if (conditions[i].asked)
			buffer_string(sql, conditions[i].condition);
	if (!s->no_index && q->verdict != AUDIT_VERDICT_ANY)
		buffer_string(sql, verdicts[q->verdict]);
	buffer_string(sql, s->limit > 0 ? " ORDER BY r.time DESC, r.log DESC, r.seq DESC"
					: " ORDER BY r.time, r.log, r.seq");
	buffer_add(sql, "", 1);
}

static void bind_text(sqlite3_stmt *statement, int parameter, const char *text)
{
	/* One that the text does not name is none. */
	if (text)
		(void)sqlite3_bind_text(statement, parameter, text, -1, SQLITE_STATIC);
}

static void bind_time(sqlite3_stmt *statement, int parameter, const char *text)
{
	uint64_t nsec;

	if (text && clock_parse(text, &nsec) == 0)
		(void)sqlite3_bind_int64(statement, parameter, (sqlite3_int64)nsec);
}

static sqlite3_stmt *prepare(struct rows *rows, const struct fleet_search *s)
{
	const struct audit_query *q = s->query;
	sqlite3_stmt *statement = NULL;
	struct buffer sql = {};

	write_sql(s, &sql);
	if (!sql.failed)
		(void)sqlite3_prepare_v2(rows_database(rows), sql.data, -1, &statement, NULL);
	buffer_free(&sql);
	bind_text(statement, HOST, s->host);
	bind_time(statement, SINCE, q->since);
	bind_time(statement, UNTIL, q->until);
	bind_text(statement, EXECUTION, q->execution);
	bind_text(statement, POLICY, q->policy);
	bind_text(statement, OPERATION, q->operation);
	bind_text(statement, ACTION, q->action);
	if (q->sequence > 0)
		(void)sqlite3_bind_int64(statement, SEQUENCE, (sqlite3_int64)q->sequence);
	return statement;
}

/* Segments that are open: each is opened once for the many records of an answer that lie in it. */
#define OPEN_SEGMENTS 64

struct segments_cache {
	struct {
		int64_t log;
		uint64_t segment;
		FILE *file;
	} open[OPEN_SEGMENTS];
	size_t next; /* the one to give way */
};

static void close_segments(const struct segments_cache *cache)
{
	for (size_t i = 0; i < OPEN_SEGMENTS; i++)
		if (cache->open[i].file)
			(void)fclose(cache->open[i].file);
}

/* NULL: it cannot be opened. */
static FILE *open_segment(const struct fleet_search *s, struct segments_cache *cache,
			  sqlite3_stmt *row)
{
	uint64_t segment = (uint64_t)sqlite3_column_int64(row, 4);
	int64_t log = sqlite3_column_int64(row, 7);
	size_t place = cache->next;
	char path[PATH_MAX];
	FILE *file;

	for (size_t i = 0; i < OPEN_SEGMENTS; i++)
		if (cache->open[i].file && cache->open[i].log == log &&
		    cache->open[i].segment == segment)
			return cache->open[i].file;
	if (snprintf(path, sizeof(path), "%s/" HOST_LOG_FOLDER "/%s/%s", s->directory,
		     (const char *)sqlite3_column_text(row, 0),
		     (const char *)sqlite3_column_text(row, 2)) >= (int)sizeof(path) ||
	    host_log_open_segment(path, segment, &file) < 0)
		return NULL;
	if (cache->open[place].file)
		(void)fclose(cache->open[place].file);
	cache->open[place].log = log;
	cache->open[place].segment = segment;
	cache->open[place].file = file;
	cache->next = (place + 1) % OPEN_SEGMENTS;
	return file;
}

/* Of a row, from the log or as the first lane brought it; caller frees. NULL: it is not there. */
static char *read_line(const struct fleet_search *s, struct segments_cache *cache,
		       sqlite3_stmt *row, size_t *ret_size)
{
	uint64_t sequence;
	char *line = NULL;
	FILE *file;

	if (sqlite3_column_type(row, 6) != SQLITE_NULL) {
		*ret_size = (size_t)sqlite3_column_bytes(row, 6);
		return strndup(sqlite3_column_blob(row, 6), *ret_size);
	}
	file = open_segment(s, cache, row);
	if (!file ||
	    host_log_read_at(file, (uint64_t)sqlite3_column_int64(row, 5), &line, ret_size) < 0)
		return NULL;
	if (chain_sequence(line, *ret_size, &sequence) == 0 &&
	    sequence == (uint64_t)sqlite3_column_int64(row, 3))
		return line;
	free(line);
	return NULL;
}

/* 1: it matches, *ret_record is a new reference; 0: no. */
static int judge(const struct fleet_search *s, struct segments_cache *cache, sqlite3_stmt *row,
		 struct fleet_search_result *result, json_t **ret_record)
{
	_cleanup_(freep) char *line = NULL;
	json_error_t error;
	json_t *record;
	size_t size;

	line = read_line(s, cache, row, &size);
	if (!line) {
		result->lost++;
		return 0;
	}
	if (!audit_query_may_match(s->query, line, size))
		return 0;
	record = json_loadb(line, size, 0, &error);
	if (record && audit_query_matches(s->query, record)) {
		*ret_record = record;
		return 1;
	}
	json_decref(record);
	return 0;
}

/* One of the last that were asked for, until all are known. */
struct held {
	char *host, *name, *log;
	bool covered;
	json_t *record;
};

struct holding {
	struct held *held;
	size_t count, capacity;
};

static char *copy(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? strdup(text) : NULL;
}

static int hold(struct holding *h, sqlite3_stmt *row, json_t *record)
{
	if (h->count == h->capacity) {
		size_t capacity = h->capacity ? 2 * h->capacity : 64;
		struct held *held = reallocarray(h->held, capacity, sizeof(*held));

		if (!held)
			return -ENOMEM;
		h->held = held;
		h->capacity = capacity;
	}
	h->held[h->count++] = (struct held){
		.host = copy(row, 0),
		.name = copy(row, 1),
		.log = copy(row, 2),
		.covered = sqlite3_column_type(row, 6) == SQLITE_NULL,
		.record = json_incref(record),
	};
	return 0;
}

static void release(struct holding *h)
{
	for (size_t i = 0; i < h->count; i++) {
		free(h->held[i].host);
		free(h->held[i].name);
		free(h->held[i].log);
		json_decref(h->held[i].record);
	}
	free(h->held);
}

/* They came the latest first. */
static int visit_held(const struct holding *h,
		      int (*visit)(void *data, const struct fleet_found *found), void *data)
{
	int r = 0;

	for (size_t i = h->count; i > 0 && r >= 0; i--) {
		const struct held *held = &h->held[i - 1];

		r = visit(data, &(struct fleet_found){held->host, held->name, held->log,
						      held->covered, held->record});
	}
	return r < 0 ? r : 0;
}

int fleet_search_run(struct rows *rows, const struct fleet_search *search,
		     int (*visit)(void *data, const struct fleet_found *found), void *data,
		     struct fleet_search_result *ret_result, struct failure *failure)
{
	sqlite3_stmt *row = prepare(rows, search);
	struct fleet_search_result result = {};
	struct segments_cache cache = {};
	struct holding holding = {};
	int r = 0, step = SQLITE_DONE;

	while (r >= 0 && (search->limit == 0 || result.found < search->limit) && row &&
	       (step = sqlite3_step(row)) == SQLITE_ROW) {
		json_t *record = NULL;

		if (judge(search, &cache, row, &result, &record) == 0)
			continue;
		result.found++;
		if (search->limit > 0)
			r = hold(&holding, row, record);
		else
			r = visit(data,
				  &(struct fleet_found){(const char *)sqlite3_column_text(row, 0),
							(const char *)sqlite3_column_text(row, 1),
							(const char *)sqlite3_column_text(row, 2),
							sqlite3_column_type(row, 6) == SQLITE_NULL,
							record});
		json_decref(record);
	}
	if (!row || (step != SQLITE_DONE && step != SQLITE_ROW))
		r = failure_set(failure, EIO, "cannot read the store's rows: %s",
				sqlite3_errmsg(rows_database(rows)));
	sqlite3_finalize(row);
	close_segments(&cache);
	if (r == 0)
		r = visit_held(&holding, visit, data);
	release(&holding);
	*ret_result = result;
	return r < 0 ? r : 0;
}
