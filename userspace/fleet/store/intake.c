/* SPDX-License-Identifier: Apache-2.0 */
/* Decides about each delivery: taken, known, waiting, or quarantined. */
#include "fleet/store/intake.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/storage/chain.h"
#include "audit/storage/storage.h"
#include "base/clock.h"
#include "base/hex.h"
#include "fleet/store/apart.h"
#include "fleet/store/batch.h"
#include "fleet/store/intake_logs.h"
#include "fleet/store/policy_copy.h"
#include "fleet/store/rows.h"
#include "insight/text/view.h"

#define LOCK_NAME "lock"

/* Interval of the attempts to open logs that could not be opened. */
#define TROUBLES_NSEC (60 * NSEC_PER_SEC)

struct intake {
	char directory[PATH_MAX];
	int lock_fd;
	uint64_t patience;
	struct rows *rows;
	struct intake_logs logs;
	struct intake_limits limits;
	struct shares shares;
	struct later *later;
	struct forward *forward; /* NULL: rows stay in SQLite */
	bool begun;
	uint64_t tried; /* monotonic: last attempt to open logs in trouble */
};

static int take_lock(struct intake *intake, struct failure *failure)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[PATH_MAX];

	if (mkdir(intake->directory, 0750) < 0 && errno != EEXIST)
		return failure_set(
			failure, errno,
			"cannot create %s: %m; create its parent, or name another directory",
			intake->directory);
	if (snprintf(path, sizeof(path), "%s/" LOCK_NAME, intake->directory) >= (int)sizeof(path))
		return failure_set(failure, ENAMETOOLONG, "%s: %m", intake->directory);
	intake->lock_fd = storage_create(AT_FDCWD, path, O_RDWR, 0640);
	if (intake->lock_fd < 0)
		return failure_set(failure, intake->lock_fd, "cannot open %s: %m", path);
	if (fcntl(intake->lock_fd, F_OFD_SETLK, &lock) < 0)
		return failure_set(
			failure, EBUSY,
			"another cordon-fleet store is at work in %s; stop it, or name another directory",
			intake->directory);
	return 0;
}

static int open_all(struct intake *intake, const char *directory, struct failure *failure)
{
	int r;

	if (snprintf(intake->directory, sizeof(intake->directory), "%s", directory) >=
	    (int)sizeof(intake->directory))
		return failure_set(failure, ENAMETOOLONG, "%s: %m", directory);
	r = take_lock(intake, failure);
	if (r == 0)
		r = rows_open(directory, true, &intake->rows, failure);
	if (r == 0)
		r = later_open(intake->rows, &intake->later, failure);
	intake->logs = (struct intake_logs){.directory = intake->directory,
					    .rows = intake->rows,
					    .later = intake->later,
					    .most = intake->limits.logs};
	if (r == 0)
		r = intake_begin(intake, failure);
	/* Release held messages, because the quotas may have changed. */
	if (r == 0)
		r = later_release_all(intake->later, failure);
	if (r == 0)
		r = intake_logs_get_all(&intake->logs, clock_nsec(CLOCK_REALTIME), failure);
	return r == 0 ? intake_commit(intake, failure) : r;
}

int intake_open(const char *directory, uint64_t patience, struct intake **ret_intake,
		struct failure *failure)
{
	struct intake *intake = calloc(1, sizeof(*intake));
	int r;

	if (!intake)
		return failure_set(failure, ENOMEM, "out of memory");
	intake->lock_fd = -1;
	intake->patience = patience;
	intake->limits = (struct intake_limits)INTAKE_LIMITS;
	r = open_all(intake, directory, failure);
	if (r < 0) {
		intake_close(intake);
		return r;
	}
	*ret_intake = intake;
	return 0;
}

void intake_close(struct intake *intake)
{
	if (intake->begun)
		rows_rollback(intake->rows);
	intake_logs_close(&intake->logs);
	if (intake->forward)
		forward_close(intake->forward);
	if (intake->later)
		later_close(intake->later);
	shares_free(&intake->shares);
	if (intake->rows)
		rows_close(intake->rows);
	closep(&intake->lock_fd);
	free(intake);
}

static int restore(void *data, const char *host, const char *id, uint64_t first, uint64_t last,
		   struct failure *failure)
{
	struct intake *intake = data;
	struct host_log *log;
	int r = intake_logs_get(&intake->logs, host, id, clock_nsec(CLOCK_REALTIME), &log, failure);

	if (r == 0)
		r = intake_logs_restore(&intake->logs, log, first, last, failure);
	/* Ignore a log that cannot continue: its next delivery reports the error. */
	return r == -EBADMSG || r == -EAGAIN ? 0 : r;
}

void intake_limit(struct intake *intake, const struct intake_limits *limits)
{
	intake->limits = *limits;
	intake->logs.most = limits->logs;
}

int intake_forward(struct intake *intake, const struct config_clickhouse *settings,
		   void (*report)(const char *text), struct failure *failure)
{
	const struct forward_options options = {
		.settings = settings, .report = report, .restore = restore, .data = intake};
	int r = forward_open(intake->rows, &options, &intake->forward, failure);

	return r == 0 ? rows_count_elsewhere(intake->rows, failure) : r;
}

int intake_turn(struct intake *intake, struct failure *failure)
{
	return intake->forward ? forward_turn(intake->forward, failure) : FORWARD_IDLE;
}

int intake_begin(struct intake *intake, struct failure *failure)
{
	int r = rows_begin(intake->rows, failure);

	intake->begun = r == 0;
	return r;
}

int intake_commit(struct intake *intake, struct failure *failure)
{
	uint64_t begin = clock_nsec(CLOCK_MONOTONIC), end;
	/* Sync the logs first: rows can be rebuilt from logs, but not logs from rows. */
	int r = intake_logs_sync(&intake->logs, failure);

	if (r == 0)
		r = rows_commit(intake->rows, failure);
	if (r < 0)
		return r;
	intake->begun = false;
	end = clock_nsec(CLOCK_MONOTONIC);
	shares_settle(&intake->shares, end - begin, end);
	return intake_logs_rotate(&intake->logs, failure);
}

int intake_defer(struct intake *intake, const struct delivery *delivery, enum later_kind kind,
		 uint64_t number, bool held, const char *reason, struct failure *failure)
{
	int r = rows_host(intake->rows, delivery->host, clock_nsec(CLOCK_REALTIME), failure);

	return r < 0 ? r
		     : later_add(intake->later, kind, number, delivery, held, reason,
				 intake->limits.later, failure);
}

int intake_is_spent(struct intake *intake, const char *host, enum share_lane lane, bool others_wait,
		    struct failure *failure)
{
	if (others_wait &&
	    shares_is_spent(&intake->shares, host, lane, clock_nsec(CLOCK_MONOTONIC)))
		return 1;
	/* Records of the queue "first" may overtake deferred ones. */
	return lane == SHARE_FIRST ? 0 : later_has(intake->later, host, failure);
}

void intake_charge(struct intake *intake, const char *host, enum share_lane lane, uint64_t nsec)
{
	shares_use(&intake->shares, host, lane, nsec, clock_nsec(CLOCK_MONOTONIC));
}

struct later *intake_later(struct intake *intake)
{
	return intake->later;
}

int intake_lost(struct intake *intake, const struct later_entry *entry, struct failure *failure)
{
	int r = later_done(intake->later, entry, failure);

	return r < 0 ? r
		     : rows_excess(intake->rows, entry->host,
				   "the stream has it no more: it was to be read later", failure);
}

int intake_refuse(struct intake *intake, const struct delivery *delivery, const char *reason,
		  struct failure *failure)
{
	return apart_keep(intake->directory, intake->rows, delivery, reason, failure);
}

/* Stores the name that the host reports, whether or not the chain covers the record yet. */
static int note_name(struct intake *intake, struct host_log *log, const struct batch *batch,
		     struct failure *failure)
{
	int r = 0;

	for (size_t i = 0; i < batch->count && r == 0; i++) {
		const char *name = row_host_name(batch->records[i].record);

		if (name)
			r = rows_name(intake->rows, &log->rows, name, failure);
	}
	return r;
}

/* Quarantines an early record that differs from the log's. It was forged on its way. */
static int keep_contradicted(struct intake *intake, const struct host_log *log, uint64_t now,
			     uint64_t sequence, const char *early, struct failure *failure)
{
	struct delivery delivery = {
		.first_lane = true, .data = early, .size = strlen(early), .now = now};
	char reason[128];

	memcpy(delivery.host, log->host, sizeof(delivery.host));
	memcpy(delivery.log, log->log, sizeof(delivery.log));
	(void)snprintf(reason, sizeof(reason),
		       "the first lane brought another record %" PRIu64 " than the log has",
		       sequence);
	return intake_refuse(intake, &delivery, reason, failure);
}

static int add_rows(struct intake *intake, struct host_log *log, const struct batch *batch,
		    size_t from, uint64_t offset, uint64_t now, struct failure *failure)
{
	for (size_t i = from; i < batch->count; i++) {
		const struct batch_record *record = &batch->records[i];
		_cleanup_(freep) char *early = NULL;
		struct row row;
		int r;

		row_from_record(record->record, record->sequence, &row);
		r = rows_add(intake->rows, &log->rows, &row, log->segment.first, offset,
			     record->line, record->size, &early, failure);
		if (r == 0 && early)
			r = keep_contradicted(intake, log, now, record->sequence, early, failure);
		if (r < 0)
			return r;
		offset += record->size;
	}
	return rows_grew(intake->rows, &log->rows, now, failure);
}

/* True if the log has exactly this record. */
static bool is_known(const struct host_log *log, const struct batch_record *record)
{
	_cleanup_(freep) char *line = NULL;
	uint64_t segment, offset;
	size_t size;

	return host_log_find(log->path, record->sequence, &segment, &offset, &line, &size) == 0 &&
	       size == record->size && memcmp(line, record->line, size) == 0;
}

/*
 * Handles a record before the log's last one that the copy lacks: it was given up, or it differs
 * from the copy's.
 */
static int take_past(struct intake *intake, struct host_log *log, const struct batch_record *record,
		     struct failure *failure)
{
	struct row row;
	int r = rows_is_given_up(intake->rows, &log->rows, record->sequence, failure);

	if (r < 0)
		return r;
	if (r == 0)
		return failure_set(failure, EBADMSG,
				   "the store has another record %" PRIu64 " of this log",
				   record->sequence);
	row_from_record(record->record, record->sequence, &row);
	return rows_add_early(intake->rows, &log->rows, &row, record->line, record->size, failure);
}

static int check_disk(struct intake *intake, const struct host_log *log, uint64_t more,
		      struct failure *failure)
{
	uint64_t bytes = 0;
	int r = rows_bytes(intake->rows, &log->rows, &bytes, failure);

	if (r == 0 && bytes + more > intake->limits.disk)
		return failure_set(failure, EAGAIN,
				   "the host has %" PRIu64 " MiB of records here, its quota",
				   bytes >> 20);
	return r;
}

/* Checks that the records from index `from` on continue the log's chain. */
static int follow(struct host_log *log, const struct batch *batch, size_t from,
		  struct failure *failure)
{
	uint64_t sequence = log->segment.sequence;
	unsigned char chain[SHA256_SIZE];
	size_t body;
	int r = 0;

	memcpy(chain, log->segment.chain, sizeof(chain));
	if (log->unproven) {
		/* The run begins with this record: later ones are verified against it. */
		r = chain_split(batch->records[from].line, batch->records[from].size - 1, &body,
				&sequence, chain);
		from++;
	}
	return r < 0 ? failure_set(failure, EBADMSG, "a line that is no record of a log")
		     : batch_follow(batch, from, &sequence, chain, failure);
}

/*
 * Stores a delivery that begins at or before the log's next record. Returns 0, -EBADMSG if it
 * contradicts the log, or -EAGAIN over a quota.
 */
static int fit(struct intake *intake, struct host_log *log, const struct batch *batch, uint64_t now,
	       enum intake_result *ret_result, struct failure *failure)
{
	const struct batch_record *last = &batch->records[batch->count - 1];
	uint64_t sequence = log->segment.sequence, offset;
	size_t from = 0;
	int r = 0;

	for (; r == 0 && from < batch->count && batch->records[from].sequence <= sequence; from++)
		if (!is_known(log, &batch->records[from]))
			r = take_past(intake, log, &batch->records[from], failure);
	*ret_result = INTAKE_KNOWN;
	if (r < 0 || from == batch->count)
		return r;
	r = check_disk(intake, log, (uint64_t)(last->line + last->size - batch->records[from].line),
		       failure);
	if (r == 0)
		r = follow(log, batch, from, failure);
	if (r == 0)
		r = host_log_append(log, batch, from, &offset, failure);
	if (r == 0) {
		log->unproven = false;
		r = add_rows(intake, log, batch, from, offset, now, failure);
	}
	if (r == 0)
		*ret_result = INTAKE_TAKEN;
	return r;
}

/* Stores waiting deliveries that can now continue the log. */
static int take_due(struct intake *intake, struct host_log *log, const struct delivery *cause,
		    struct failure *failure)
{
	for (;;) {
		struct delivery delivery = *cause;
		struct rows_waiting waiting = {};
		struct batch batch = {};
		enum intake_result result;
		struct failure why = {};
		int r = rows_due(intake->rows, &log->rows, log->segment.sequence + 1, &waiting,
				 failure);

		if (r == -ENOENT)
			return later_release(intake->later, log->host, log->log,
					     log->segment.sequence + 1, failure);
		if (r < 0)
			return r;
		delivery.data = waiting.data;
		delivery.size = waiting.size;
		delivery.first = delivery.last = 0;
		delivery.first_lane = false;
		r = batch_read(&delivery, &batch, &why);
		if (r == 0)
			r = fit(intake, log, &batch, cause->now, &result, &why);
		batch_free(&batch);
		if (r == -EBADMSG)
			r = intake_refuse(intake, &delivery, why.text, &why);
		if (r == 0)
			r = rows_waited(intake->rows, &log->rows, &waiting, &why);
		free(waiting.data);
		/* Over a quota it continues to wait. */
		if (r < 0)
			return r == -EAGAIN ? 0 : failure_set(failure, r, "%s", why.text);
	}
}

static int note_retentions(struct intake *intake, struct host_log *log, const struct batch *batch,
			   struct failure *failure)
{
	int r = 0;

	for (size_t i = 0; i < batch->count && r == 0; i++) {
		const json_t *record = batch->records[i].record;
		const char *chain = view_text(record, "cordon.retention.chain");
		unsigned char digest[SHA256_SIZE];

		if (view_is(record, "retention") && chain &&
		    hex_decode(chain, digest, sizeof(digest)) == 0)
			r = rows_retention(intake->rows, &log->rows,
					   view_number(record, "cordon.retention.last"), chain,
					   failure);
	}
	return r;
}

/* Begins a new run with the deliveries that wait after the record `last`. */
static int begin_run(struct intake *intake, struct host_log *log, uint64_t last,
		     const unsigned char *chain, const char *reason, uint64_t now,
		     struct failure *failure)
{
	const struct delivery cause = {.now = now};
	struct delivery delivery = cause;
	int r = rows_give_up(intake->rows, &log->rows, log->segment.sequence + 1, last, now, reason,
			     failure);

	if (r == 0)
		r = host_log_begin_run(log, last, chain, failure);
	memcpy(delivery.host, log->host, sizeof(delivery.host));
	memcpy(delivery.log, log->log, sizeof(delivery.log));
	return r == 0 ? take_due(intake, log, &delivery, failure) : r;
}

/*
 * Continues a log after records that the host's retention deleted before they arrived. The
 * retention record contains the number and chain value of the last deleted record. Waits first if
 * the records may only be late.
 */
static int anchor(struct intake *intake, struct host_log *log, uint64_t now,
		  struct failure *failure)
{
	unsigned char digest[SHA256_SIZE];
	char chain[SHA256_TEXT_SIZE];
	uint64_t last, since;

	if (rows_anchor(intake->rows, &log->rows, &last, &since, chain) < 0 ||
	    now - since < intake->patience || hex_decode(chain, digest, sizeof(digest)) < 0)
		return 0;
	/* If the store has no record of the log yet, the deleted ones do not count as missing. */
	if (log->segment.sequence > 0)
		return begin_run(intake, log, last, digest, "deleted on the host before they came",
				 now, failure);
	log->segment.sequence = last;
	memcpy(log->segment.chain, digest, sizeof(digest));
	log->rows.contiguous = last;
	return 0;
}

static int check_parked(struct intake *intake, const struct host_log *log, uint64_t more,
			struct failure *failure)
{
	uint64_t bytes = 0;
	int r = rows_parked(intake->rows, &log->rows, &bytes, failure);

	if (r == 0 && bytes + more > intake->limits.parked)
		return failure_set(failure, EAGAIN,
				   "%" PRIu64
				   " MiB of the host's records wait for others, its quota",
				   bytes >> 20);
	return r;
}

/* Adds rows, so that queries find the waiting records. */
static int add_waiting(struct intake *intake, const struct host_log *log, const struct batch *batch,
		       int64_t id, struct failure *failure)
{
	int r = 0;

	for (size_t i = 0; i < batch->count && r == 0; i++) {
		const struct batch_record *record = &batch->records[i];
		struct row row;

		row_from_record(record->record, record->sequence, &row);
		r = rows_add_waiting(intake->rows, &log->rows, &row, id,
				     (uint64_t)(record->line - batch->records[0].line),
				     record->size, failure);
	}
	return r;
}

static int wait_for_more(struct intake *intake, struct host_log *log,
			 const struct delivery *delivery, const struct batch *batch,
			 struct failure *failure)
{
	const struct rows_waiting waiting = {
		.first = batch->records[0].sequence,
		.last = batch->records[batch->count - 1].sequence,
		.since = delivery->now,
		.data = (char *)delivery->data,
		.size = delivery->size,
	};
	int64_t id = 0;
	int r = check_parked(intake, log, delivery->size + batch->count * ROWS_PARKED_RECORD,
			     failure);

	if (r == 0)
		r = rows_wait(intake->rows, &log->rows, &waiting, &id, failure);
	if (r == 0 && id > 0)
		r = add_waiting(intake, log, batch, id, failure);
	return r == 0 ? note_retentions(intake, log, batch, failure) : r;
}

static int take_bulk(struct intake *intake, struct host_log *log, const struct delivery *delivery,
		     const struct batch *batch, enum intake_result *ret_result,
		     struct failure *failure)
{
	int r;

	if (batch->records[0].sequence > log->segment.sequence + 1) {
		*ret_result = INTAKE_WAITS;
		r = wait_for_more(intake, log, delivery, batch, failure);
		if (r == 0)
			r = anchor(intake, log, delivery->now, failure);
	} else {
		r = fit(intake, log, batch, delivery->now, ret_result, failure);
	}
	return r == 0 && *ret_result != INTAKE_KNOWN ? take_due(intake, log, delivery, failure) : r;
}

static int take_first(struct intake *intake, struct host_log *log, const struct batch *batch,
		      enum intake_result *ret_result, struct failure *failure)
{
	*ret_result = INTAKE_KNOWN;
	for (size_t i = 0; i < batch->count; i++) {
		const struct batch_record *record = &batch->records[i];
		struct row row;
		int r;

		if (record->sequence <= log->segment.sequence) {
			r = is_known(log, record) ? 0 : take_past(intake, log, record, failure);
			if (r < 0)
				return r;
			continue;
		}
		r = check_parked(intake, log, record->size + ROWS_PARKED_RECORD, failure);
		if (r < 0)
			return r;
		row_from_record(record->record, record->sequence, &row);
		r = rows_add_early(intake->rows, &log->rows, &row, record->line, record->size,
				   failure);
		if (r < 0)
			return r;
		*ret_result = INTAKE_TAKEN;
	}
	return 0;
}

static int take(struct intake *intake, const struct delivery *delivery, const struct batch *batch,
		enum intake_result *ret_result, struct failure *failure)
{
	struct host_log *log;
	int r = intake_logs_get(&intake->logs, delivery->host, delivery->log, delivery->now, &log,
				failure);

	if (r == 0)
		r = rows_heard(intake->rows, &log->rows, delivery->now, batch->newest, failure);
	if (r == 0)
		r = delivery->first_lane
			    ? take_first(intake, log, batch, ret_result, failure)
			    : take_bulk(intake, log, delivery, batch, ret_result, failure);
	return r == 0 ? note_name(intake, log, batch, failure) : r;
}

int intake_take(struct intake *intake, const struct delivery *delivery,
		enum intake_result *ret_result, struct failure *failure)
{
	struct failure why = {};
	struct batch batch = {};
	int r = batch_read(delivery, &batch, &why);

	if (r == 0)
		r = take(intake, delivery, &batch, ret_result, &why);
	batch_free(&batch);
	if (r == -EBADMSG) {
		*ret_result = INTAKE_APART;
		return intake_refuse(intake, delivery, why.text, failure);
	}
	return r < 0 ? failure_set(failure, r, "%s", why.text) : 0;
}

int intake_presence(struct intake *intake, const struct presence *presence, struct failure *failure)
{
	return rows_presence(intake->rows, presence, failure);
}

int intake_overdue(struct intake *intake, uint64_t after, uint64_t before,
		   char ret_host[DELIVERY_ID_SIZE], struct failure *failure)
{
	return rows_overdue(intake->rows, after, before, ret_host, failure);
}

int intake_closed(struct intake *intake, const char *host, uint64_t now, struct failure *failure)
{
	return rows_closed(intake->rows, host, now, failure);
}

int intake_policy(struct intake *intake, const struct delivery *delivery, const char *digest,
		  struct failure *failure)
{
	struct failure why = {};
	struct host_log *log;
	int r = intake_logs_get(&intake->logs, delivery->host, delivery->log, delivery->now, &log,
				&why);

	if (r == 0)
		r = check_disk(intake, log, delivery->size, &why);
	if (r == 0)
		r = policy_copy_keep(intake->directory, log->path, digest, delivery->data,
				     delivery->size, &why);
	if (r == 0)
		r = rows_add_bytes(intake->rows, &log->rows, delivery->size, &why);
	if (r == -EBADMSG)
		return intake_refuse(intake, delivery, why.text, failure);
	return r < 0 ? failure_set(failure, r, "%s", why.text) : 0;
}

int intake_skip(struct intake *intake, const char *host, const char *log, uint64_t sequence,
		const char *reason, struct failure *failure)
{
	uint64_t now = clock_nsec(CLOCK_REALTIME), first = 0, since;
	struct host_log *copy;
	int r = intake_logs_get(&intake->logs, host, log, now, &copy, failure);

	if (r == 0)
		r = rows_first_waiting(intake->rows, &copy->rows, &first, &since, failure);
	if (r == -ENOENT)
		return failure_set(failure, ERANGE,
				   "no record waits after record %" PRIu64
				   " of the log %s: the store has its "
				   "records to %" PRIu64,
				   sequence, log, copy->segment.sequence);
	if (r < 0)
		return r;
	if (sequence <= copy->segment.sequence || sequence >= first)
		return failure_set(failure, ERANGE,
				   "record %" PRIu64 " of the log %s is not missing: %" PRIu64
				   " to %" PRIu64 " are",
				   sequence, log, copy->segment.sequence + 1, first - 1);
	return begin_run(intake, copy, first - 1, NULL, reason, now, failure);
}

/*
 * --- maintenance -------------------------------------------------------------------------------
 */

struct log_id {
	char host[DELIVERY_ID_SIZE], log[DELIVERY_ID_SIZE];
	uint64_t sequence;
	char reason[256];
};

#define TENDED_MAX 64u

struct log_ids {
	struct log_id ids[TENDED_MAX];
	size_t count;
};

/* Returns 1 if the list is full. */
static int add_id(struct log_ids *list, const char *host, const char *log)
{
	struct log_id *id = &list->ids[list->count];

	if (list->count == TENDED_MAX)
		return 1;
	(void)snprintf(id->host, sizeof(id->host), "%s", host);
	(void)snprintf(id->log, sizeof(id->log), "%s", log);
	list->count++;
	return 0;
}

static int visit_anchored(void *data, const char *host, const char *log)
{
	return add_id(data, host, log);
}

/* A log that cannot continue is not an error of the store. */
static int pass_over(int result)
{
	return result == -EBADMSG || result == -EAGAIN ? 0 : result;
}

static int tend_anchored(struct intake *intake, uint64_t now, struct failure *failure)
{
	struct log_ids list = {};
	int r = rows_anchored(intake->rows, visit_anchored, &list, failure);

	for (size_t i = 0; i < list.count && r >= 0; i++) {
		struct failure why = {};
		struct host_log *log;

		r = intake_logs_get(&intake->logs, list.ids[i].host, list.ids[i].log, now, &log,
				    &why);
		if (r == 0)
			r = anchor(intake, log, now, &why);
		r = pass_over(r);
		if (r < 0)
			(void)failure_set(failure, r, "%s", why.text);
	}
	return r < 0 ? r : 0;
}

static int list_rows(struct intake *intake, const char *sql, struct log_ids *list,
		     struct failure *failure)
{
	sqlite3 *database = rows_database(intake->rows);
	sqlite3_stmt *statement = NULL;
	int step = SQLITE_ERROR;

	if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK) {
		while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
			struct log_id *id = &list->ids[list->count];

			if (add_id(list, (const char *)sqlite3_column_text(statement, 0),
				   (const char *)sqlite3_column_text(statement, 1)) > 0)
				break;
			id->sequence = (uint64_t)sqlite3_column_int64(statement, 2);
			(void)snprintf(id->reason, sizeof(id->reason), "%s",
				       (const char *)sqlite3_column_text(statement, 3));
		}
	}
	sqlite3_finalize(statement);
	return step == SQLITE_DONE || step == SQLITE_ROW
		       ? 0
		       : failure_set(failure, EIO, "cannot read the store's rows: %s",
				     sqlite3_errmsg(database));
}

static int tend_orders(struct intake *intake, void (*report)(const char *text),
		       struct failure *failure)
{
	struct log_ids list = {};
	int r = list_rows(intake, "SELECT host, log, seq, reason FROM skips", &list, failure);

	for (size_t i = 0; i < list.count && r == 0; i++) {
		const struct log_id *id = &list.ids[i];
		struct failure why = {};

		r = intake_skip(intake, id->host, id->log, id->sequence, id->reason, &why);
		if (r == -ERANGE || r == -EBADMSG || r == -EAGAIN) {
			report(why.text);
			r = 0;
		}
		if (r < 0)
			(void)failure_set(failure, r, "%s", why.text);
	}
	if (r == 0 && list.count > 0 &&
	    sqlite3_exec(rows_database(intake->rows), "DELETE FROM skips", NULL, NULL, NULL) !=
		    SQLITE_OK)
		r = failure_set(failure, EIO, "cannot write the store's rows: %s",
				sqlite3_errmsg(rows_database(intake->rows)));
	return r;
}

static int tend_troubles(struct intake *intake, uint64_t now, struct failure *failure)
{
	struct log_ids list = {};
	uint64_t monotonic = clock_nsec(CLOCK_MONOTONIC);
	int r;

	if (intake->tried > 0 && monotonic - intake->tried < TROUBLES_NSEC)
		return 0;
	intake->tried = monotonic;
	r = list_rows(intake,
		      "SELECT host, log, at, reason FROM troubles WHERE log != '' ORDER BY at",
		      &list, failure);
	for (size_t i = 0; i < list.count && r == 0; i++) {
		struct failure why = {};
		struct host_log *log;

		r = pass_over(intake_logs_get(&intake->logs, list.ids[i].host, list.ids[i].log, now,
					      &log, &why));
		if (r < 0)
			(void)failure_set(failure, r, "%s", why.text);
	}
	return r;
}

int intake_tend(struct intake *intake, void (*report)(const char *text), struct failure *failure)
{
	uint64_t now = clock_nsec(CLOCK_REALTIME);
	int r = tend_orders(intake, report, failure);

	if (r == 0)
		r = tend_anchored(intake, now, failure);
	return r == 0 ? tend_troubles(intake, now, failure) : r;
}
