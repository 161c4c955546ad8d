/* SPDX-License-Identifier: Apache-2.0 */
/* Holds the copies of logs that deliveries go to, and has their rows agree with them. */
#include "fleet/store/intake_logs.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "audit/storage/segments.h"

/* Three descriptors each. */
#define OPEN_MAX_LOGS 2048
/*
 * So many syncs are under way at once: a file system writes its journal once for all of them, and
 * waits for the disk once.
 */
#define SYNCS_MAX 16u

static int add_row(struct rows *rows, struct host_log *log, uint64_t segment, uint64_t offset,
		   const char *line, size_t size, struct failure *failure)
{
	uint64_t sequence = log->rows.contiguous + 1;
	_cleanup_(freep) char *early = NULL;
	json_error_t error;
	struct row row;
	json_t *record = json_loadb(line, size - 1, 0, &error);
	const char *name;
	int r;

	if (!record)
		return failure_set(failure, EBADMSG, "record %" PRIu64 " of %s is no JSON",
				   sequence, log->path);
	row_from_record(record, sequence, &row);
	r = rows_add(rows, &log->rows, &row, segment, offset, line, size, &early, failure);
	name = row_host_name(record);
	if (r == 0 && name)
		r = rows_name(rows, &log->rows, name, failure);
	json_decref(record);
	return r;
}

/* After a crash between the sync of a log and the commit of its rows, or without a database. */
static int catch_up(struct rows *rows, struct host_log *log, struct failure *failure)
{
	while (log->rows.contiguous < log->segment.sequence) {
		uint64_t segment = log->rows.segment, offset = log->rows.offset + log->rows.size;
		_cleanup_(freep) char *line = NULL;
		size_t size;
		int r = segment > 0 ? host_log_read(log->path, segment, offset, &line, &size)
				    : -ENODATA;

		if (r < 0) {
			segment = log->rows.contiguous + 1;
			offset = 0;
			r = host_log_read(log->path, segment, offset, &line, &size);
		}
		if (r < 0)
			return failure_set(failure, EBADMSG,
					   "%s has no record %" PRIu64 ", which it had", log->path,
					   log->rows.contiguous + 1);
		r = add_row(rows, log, segment, offset, line, size, failure);
		if (r < 0)
			return r;
	}
	if (log->rows.contiguous > log->segment.sequence)
		return failure_set(
			failure, EBADMSG,
			"%s ends with record %" PRIu64 ", and had %" PRIu64
			": somebody cut it; put it back from a copy, or move it and fleet.sqlite away",
			log->path, log->segment.sequence, log->rows.contiguous);
	return 0;
}

/* The record that the log's oldest segment begins with. */
static uint64_t first_of(const struct host_log *log)
{
	struct segments segments;
	uint64_t first = log->segment.first;

	if (segments_list(log->path, &segments) < 0)
		return first;
	if (segments.count > 0)
		first = segments.entries[0].first;
	segments_free(&segments);
	return first;
}

static int restore_row(struct rows *rows, const struct host_log *log, uint64_t sequence,
		       struct failure *failure)
{
	_cleanup_(freep) char *line = NULL;
	uint64_t segment, offset;
	struct row row;
	json_t *record;
	size_t size;
	int r = host_log_find(log->path, sequence, &segment, &offset, &line, &size);

	record = r == 0 ? json_loadb(line, size - 1, 0, NULL) : NULL;
	if (!record)
		return failure_set(failure, EBADMSG, "%s has no record %" PRIu64 ", which it had",
				   log->path, sequence);
	row_from_record(record, sequence, &row);
	r = rows_restore(rows, &log->rows, &row, segment, offset, size, failure);
	json_decref(record);
	return r;
}

int intake_logs_restore(struct intake_logs *logs, struct host_log *log, uint64_t first,
			uint64_t last, struct failure *failure)
{
	const uint64_t begin = first_of(log);
	int r;

	if (first < begin)
		first = begin;
	r = rows_send_again(logs->rows, &log->rows, first - 1, failure);
	while (r == 0 && first <= last)
		r = restore_row(logs->rows, log, first++, failure);
	return r;
}

/* The log that starts at a later record: where it does, nobody but its first segment knows. */
static void begin_where_it_begins(struct host_log *log)
{
	uint64_t first = log->rows.contiguous > 0 ? 0 : first_of(log);

	if (first > 0)
		log->rows.contiguous = first - 1;
}

static int open_log(struct intake_logs *logs, const char *host, const char *id, uint64_t now,
		    struct host_log *log, struct failure *failure)
{
	int r = host_log_open(log, logs->directory, host, id, failure);

	if (r == 0)
		r = rows_log(logs->rows, host, id, now, &log->rows, failure);
	if (r < 0)
		return r;
	begin_where_it_begins(log);
	return catch_up(logs->rows, log, failure);
}

static void remove_log(struct intake_logs *logs, struct host_log **place)
{
	struct host_log *log = *place;

	*place = log->next;
	host_log_close(log);
	free(log);
	logs->count--;
}

static void make_room(struct intake_logs *logs)
{
	struct host_log **oldest = NULL;

	for (struct host_log **at = &logs->first; logs->count >= OPEN_MAX_LOGS && *at;
	     at = &(*at)->next)
		if (!(*at)->dirty && (!oldest || (*at)->used < (*oldest)->used))
			oldest = at;
	if (oldest)
		remove_log(logs, oldest);
}

int intake_logs_get(struct intake_logs *logs, const char *host, const char *id, uint64_t now,
		    struct host_log **ret_log, struct failure *failure)
{
	struct host_log *log = logs->first;
	int r;

	while (log && (strcmp(log->log, id) != 0 || strcmp(log->host, host) != 0))
		log = log->next;
	if (!log) {
		make_room(logs);
		log = malloc(sizeof(*log));
		if (!log)
			return failure_set(failure, ENOMEM, "out of memory");
		r = open_log(logs, host, id, now, log, failure);
		if (r < 0) {
			log->dirty = true; /* closes it without a word of order */
			host_log_close(log);
			free(log);
			return r;
		}
		log->next = logs->first;
		logs->first = log;
		logs->count++;
	}
	log->used = ++logs->uses;
	*ret_log = log;
	return 0;
}

static int get_all_of(struct intake_logs *logs, const char *host, uint64_t now,
		      struct failure *failure)
{
	_cleanup_(closedirp) DIR *folder = NULL;
	char path[PATH_MAX];
	struct dirent *entry;

	if (snprintf(path, sizeof(path), "%s/" HOST_LOG_FOLDER "/%s", logs->directory, host) >=
	    (int)sizeof(path))
		return failure_set(failure, ENAMETOOLONG, "%s: %m", logs->directory);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		struct host_log *log;
		struct failure why = {};
		int r = delivery_id_is_valid(entry->d_name)
				? intake_logs_get(logs, host, entry->d_name, now, &log, &why)
				: 0;

		if (r < 0 && r != -EBADMSG)
			return failure_set(failure, r, "%s", why.text);
	}
	return 0;
}

int intake_logs_get_all(struct intake_logs *logs, uint64_t now, struct failure *failure)
{
	_cleanup_(closedirp) DIR *hosts = NULL;
	char path[PATH_MAX];
	struct dirent *entry;
	int r = 0;

	if (snprintf(path, sizeof(path), "%s/" HOST_LOG_FOLDER, logs->directory) >=
	    (int)sizeof(path))
		return failure_set(failure, ENAMETOOLONG, "%s: %m", logs->directory);
	hosts = opendir(path);
	while (r == 0 && hosts && (entry = readdir(hosts)))
		if (delivery_id_is_valid(entry->d_name))
			r = get_all_of(logs, entry->d_name, now, failure);
	return r;
}

/* Logs that were written to, and who takes the next of them. */
struct syncs {
	struct host_log **logs;
	size_t count;
	atomic_size_t next;
	pthread_mutex_t lock; /* of what follows: what failed first */
	int result;
	struct failure failure;
};

static void *sync_some(void *data)
{
	struct syncs *syncs = data;
	size_t i;

	while ((i = atomic_fetch_add(&syncs->next, 1)) < syncs->count) {
		struct failure why = {};
		int r = host_log_sync(syncs->logs[i], &why);

		pthread_mutex_lock(&syncs->lock);
		if (r < 0 && syncs->result == 0) {
			syncs->result = r;
			syncs->failure = why;
		}
		pthread_mutex_unlock(&syncs->lock);
	}
	return NULL;
}

/* By this thread and others; where there are no others, by this one alone. */
static int sync_all(struct syncs *syncs, struct failure *failure)
{
	pthread_t threads[SYNCS_MAX - 1];
	size_t count = 0;

	while (count < SYNCS_MAX - 1 && count + 1 < syncs->count &&
	       pthread_create(&threads[count], NULL, sync_some, syncs) == 0)
		count++;
	(void)sync_some(syncs);
	while (count > 0)
		pthread_join(threads[--count], NULL);
	if (syncs->result < 0)
		*failure = syncs->failure;
	return syncs->result;
}

int intake_logs_sync(struct intake_logs *logs, struct failure *failure)
{
	_cleanup_(freep) struct host_log **dirty =
		calloc(logs->count + 1, sizeof(struct host_log *));
	struct syncs syncs = {.logs = dirty, .lock = PTHREAD_MUTEX_INITIALIZER};

	if (!dirty)
		return failure_set(failure, ENOMEM, "out of memory");
	for (struct host_log *log = logs->first; log; log = log->next)
		if (log->dirty)
			dirty[syncs.count++] = log;
	return sync_all(&syncs, failure);
}

int intake_logs_rotate(struct intake_logs *logs, struct failure *failure)
{
	int r = 0;

	for (struct host_log *log = logs->first; log && r == 0; log = log->next)
		r = host_log_rotate(log, failure);
	return r;
}

void intake_logs_close(struct intake_logs *logs)
{
	while (logs->first)
		remove_log(logs, &logs->first);
}
