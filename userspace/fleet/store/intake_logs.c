/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the copies of logs, and adds missing rows for their records. */
#include "fleet/store/intake_logs.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "audit/storage/segments.h"

/* Each open log needs three descriptors. */
#define OPEN_MAX_LOGS 2048
/* Number of concurrent syncs: the file system commits its journal once for all of them. */
#define SYNCS_MAX 16u

/* True if the error concerns only this log, so that the others can continue. */
static bool is_of_log(int error)
{
	switch (-error) {
	case ENOMEM:
	case ENOSPC:
	case EDQUOT:
	case EROFS:
	case EMFILE:
	case ENFILE:
	case ENAMETOOLONG:
		return false;
	default:
		return true;
	}
}

/*
 * Records that a log cannot be opened. Its deliveries are deferred, so that other logs' deliveries
 * continue.
 */
static int note_trouble(struct intake_logs *logs, const char *host, const char *id, uint64_t now,
			const struct failure *why, struct failure *failure)
{
	int r = rows_trouble(logs->rows, host, id, now, why->text, failure);

	return r < 0 ? r : failure_set(failure, EAGAIN, "%s", why->text);
}

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

/* Returns the first record of the next segment after `sequence`, or 0. */
static uint64_t next_segment(const struct host_log *log, uint64_t sequence)
{
	uint64_t first = log->segment.first > sequence ? log->segment.first : 0;
	struct segments segments;

	if (segments_list(log->path, &segments) < 0)
		return first;
	for (size_t i = segments.count; i > 0; i--)
		if (segments.entries[i - 1].first > sequence)
			first = segments.entries[i - 1].first;
	segments_free(&segments);
	return first;
}

/*
 * The copy lacks records that were given up before the rows were lost: stores that again. Returns
 * 0, or -EBADMSG if they were not given up.
 */
static int catch_up_behind(struct rows *rows, struct host_log *log, uint64_t now,
			   struct failure *failure)
{
	uint64_t first = next_segment(log, log->rows.contiguous + 1);

	if (first == 0)
		return failure_set(failure, EBADMSG, "%s has no record %" PRIu64 ", which it had",
				   log->path, log->rows.contiguous + 1);
	return rows_give_up(rows, &log->rows, log->rows.contiguous + 1, first - 1, now,
			    "the copy has none of them", failure);
}

/* True if all missing records were given up and no later record has arrived. */
static bool ends_before_a_run(struct rows *rows, const struct host_log *log)
{
	return rows_is_given_up(rows, &log->rows, log->segment.sequence + 1, NULL) > 0 &&
	       rows_is_given_up(rows, &log->rows, log->rows.contiguous, NULL) > 0;
}

/*
 * Adds missing rows after a crash between the log's sync and the rows' commit, or if the database
 * is new.
 */
static int catch_up(struct rows *rows, struct host_log *log, uint64_t now, struct failure *failure)
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
		r = r < 0 ? catch_up_behind(rows, log, now, failure)
			  : add_row(rows, log, segment, offset, line, size, failure);
		if (r < 0)
			return r;
	}
	if (log->rows.contiguous > log->segment.sequence && ends_before_a_run(rows, log)) {
		log->segment.sequence = log->rows.contiguous;
		log->unproven = true;
		return 0;
	}
	if (log->rows.contiguous > log->segment.sequence)
		return failure_set(failure, EBADMSG,
				   "%s ends with record %" PRIu64 ", and had %" PRIu64
				   ": it was truncated; restore it from a backup, or move it and "
				   "fleet.sqlite away",
				   log->path, log->segment.sequence, log->rows.contiguous);
	return 0;
}

/* Returns the first record of the log's oldest segment. */
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

/* If the database is new, takes the log's first record from its oldest segment. */
static void begin_where_it_begins(struct host_log *log)
{
	uint64_t first = log->rows.contiguous > 0 ? 0 : first_of(log);

	if (first > 0)
		log->rows.contiguous = first - 1;
}

static int open_log(struct intake_logs *logs, const char *host, const char *id, uint64_t now,
		    struct host_log *log, struct failure *failure)
{
	struct failure why = {};
	uint64_t others;
	int r = rows_other_logs(logs->rows, host, id, &others, failure);

	*log = (struct host_log){.segment = SEGMENT_INIT};
	if (r < 0)
		return r;
	if (others >= logs->most)
		return failure_set(failure, EAGAIN, "the host has %" PRIu64 " logs, its quota",
				   others);
	r = host_log_open(log, logs->directory, host, id, &why);
	if (r < 0 && r != -EBADMSG && is_of_log(r))
		return note_trouble(logs, host, id, now, &why, failure);
	if (r < 0)
		return failure_set(failure, r, "%s", why.text);
	r = rows_no_trouble(logs->rows, host, id, failure);
	if (r > 0)
		r = later_release(logs->later, host, id, UINT64_MAX, failure);
	if (r == 0)
		r = rows_log(logs->rows, host, id, now, &log->rows, failure);
	if (r < 0)
		return r;
	begin_where_it_begins(log);
	return catch_up(logs->rows, log, now, failure);
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
			log->dirty = true; /* so that host_log_close() writes no regular end */
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
	struct failure unread = {};
	char path[PATH_MAX];
	struct dirent *entry;
	int r;

	if (snprintf(path, sizeof(path), "%s/" HOST_LOG_FOLDER "/%s", logs->directory, host) >=
	    (int)sizeof(path))
		return failure_set(failure, ENAMETOOLONG, "%s: %m", logs->directory);
	folder = opendir(path);
	if (!folder) {
		r = failure_set(&unread, errno, "cannot open %s: %m", path);
		return is_of_log(r) ? rows_trouble(logs->rows, host, "", now, unread.text, failure)
				    : failure_set(failure, r, "%s", unread.text);
	}
	r = rows_no_trouble(logs->rows, host, "", failure);
	while (r >= 0 && (entry = readdir(folder))) {
		struct host_log *log;
		struct failure why = {};

		r = delivery_id_is_valid(entry->d_name)
			    ? intake_logs_get(logs, host, entry->d_name, now, &log, &why)
			    : 0;
		if (r == -EBADMSG || r == -EAGAIN)
			r = 0;
		if (r < 0)
			return failure_set(failure, r, "%s", why.text);
	}
	return r < 0 ? r : 0;
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

/* The logs to sync, shared by the syncing threads. */
struct syncs {
	struct host_log **logs;
	size_t count;
	atomic_size_t next;
	pthread_mutex_t lock; /* protects the first error below */
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

/* Syncs in several threads, or in this one alone if none can be started. */
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
