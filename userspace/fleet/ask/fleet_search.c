/* SPDX-License-Identifier: Apache-2.0 */
/* Selects rows, reads their records from the hosts' logs, and matches them against the query. */
#include "fleet/ask/fleet_search.h"

#include <limits.h>
#include <string.h>

#include "audit/storage/chain.h"
#include "audit/text/buffer.h"
#include "fleet/ask/row_source.h"
#include "fleet/store/host_log.h"

/* Keeps segments open, because many matching records are in the same segment. */
#define OPEN_SEGMENTS 64

struct segments_cache {
	struct {
		char host[DELIVERY_ID_SIZE], log[DELIVERY_ID_SIZE];
		uint64_t segment;
		FILE *file;
	} open[OPEN_SEGMENTS];
	size_t next; /* index of the entry replaced next */
};

static void close_segments(const struct segments_cache *cache)
{
	for (size_t i = 0; i < OPEN_SEGMENTS; i++)
		if (cache->open[i].file)
			(void)fclose(cache->open[i].file);
}

/* Returns NULL if the segment cannot be opened. */
static FILE *open_segment(const struct fleet_search *s, struct segments_cache *cache,
			  const struct source_row *row)
{
	size_t place = cache->next;
	char path[PATH_MAX];
	FILE *file;

	for (size_t i = 0; i < OPEN_SEGMENTS; i++)
		if (cache->open[i].file && cache->open[i].segment == row->segment &&
		    strcmp(cache->open[i].log, row->log) == 0 &&
		    strcmp(cache->open[i].host, row->host) == 0)
			return cache->open[i].file;
	if (snprintf(path, sizeof(path), "%s/" HOST_LOG_FOLDER "/%s/%s", s->directory, row->host,
		     row->log) >= (int)sizeof(path) ||
	    host_log_open_segment(path, row->segment, &file) < 0)
		return NULL;
	if (cache->open[place].file)
		(void)fclose(cache->open[place].file);
	memcpy(cache->open[place].host, row->host, sizeof(row->host));
	memcpy(cache->open[place].log, row->log, sizeof(row->log));
	cache->open[place].segment = row->segment;
	cache->open[place].file = file;
	cache->next = (place + 1) % OPEN_SEGMENTS;
	return file;
}

/*
 * Returns the record's line, from the log or from the queue "first". The caller frees it. NULL: not
 * found.
 */
static char *read_line(const struct fleet_search *s, struct segments_cache *cache,
		       const struct source_row *row, size_t *ret_size)
{
	uint64_t sequence;
	char *line = NULL;
	FILE *file;

	if (row->early) {
		*ret_size = row->early_size;
		return strndup(row->early, row->early_size);
	}
	file = open_segment(s, cache, row);
	if (!file || host_log_read_at(file, row->offset, &line, ret_size) < 0)
		return NULL;
	if (chain_sequence(line, *ret_size, &sequence) == 0 && sequence == row->sequence)
		return line;
	free(line);
	return NULL;
}

/* Returns 1 with a new reference in *ret_record if the record matches, otherwise 0. */
static int judge(const struct fleet_search *s, struct segments_cache *cache,
		 const struct source_row *row, struct fleet_search_result *result,
		 json_t **ret_record)
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
	if (audit_query_ask_line(s->query, line, size) == QUERY_NO)
		return 0;
	record = json_loadb(line, size, 0, &error);
	if (record && audit_query_matches(s->query, record)) {
		*ret_record = record;
		return 1;
	}
	json_decref(record);
	return 0;
}

/* A record of the last `limit` ones, kept until all are found. */
struct held {
	char *host, *name, *log;
	bool covered;
	json_t *record;
};

struct holding {
	struct held *held;
	size_t count, capacity;
};

static int hold(struct holding *h, const struct fleet_found *found)
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
		.host = strdup(found->host),
		.name = found->name ? strdup(found->name) : NULL,
		.log = strdup(found->log),
		.covered = found->covered,
		.record = json_incref(found->record),
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

/* The records were found in reverse order. */
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

int fleet_search_run(struct rows *rows, struct clickhouse *clickhouse,
		     const struct fleet_search *search,
		     int (*visit)(void *data, const struct fleet_found *found), void *data,
		     struct fleet_search_result *ret_result, struct failure *failure)
{
	const struct row_question question = {
		.host = search->host,
		.query = search->query,
		.all = search->no_index,
		.backwards = search->limit > 0,
	};
	_cleanup_(row_source_closep) struct row_source *source = NULL;
	struct fleet_search_result result = {};
	struct segments_cache cache = {};
	struct holding holding = {};
	struct source_row row;
	int r = row_source_open(rows, clickhouse, &question, &source, failure);

	while (r >= 0 && (search->limit == 0 || result.found < search->limit) &&
	       (r = row_source_next(source, &row, failure)) > 0) {
		json_t *record = NULL;
		struct fleet_found found;

		if (judge(search, &cache, &row, &result, &record) == 0)
			continue;
		result.found++;
		found = (struct fleet_found){row.host, row_source_name(source, row.host), row.log,
					     row.early == NULL, record};
		r = search->limit > 0 ? hold(&holding, &found) : visit(data, &found);
		json_decref(record);
	}
	close_segments(&cache);
	if (r >= 0)
		r = visit_held(&holding, visit, data);
	release(&holding);
	*ret_result = result;
	return r < 0 ? r : 0;
}
