/* SPDX-License-Identifier: Apache-2.0 */
/* Decides about each delivery: taken, known, waiting, or kept apart. */
#include "fleet/store/intake.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/storage/storage.h"
#include "base/clock.h"
#include "base/hex.h"
#include "fleet/store/apart.h"
#include "fleet/store/batch.h"
#include "fleet/store/intake_logs.h"
#include "fleet/store/policy_copy.h"
#include "fleet/store/rows.h"
#include "insight/text/view.h"

/* Of one log; what comes beyond that stays in the stream. */
#define WAITING_BYTES_MAX (64ull << 20)

#define LOCK_NAME "lock"

struct intake {
	char directory[PATH_MAX];
	int lock_fd;
	uint64_t patience;
	struct rows *rows;
	struct intake_logs logs;
	struct forward *forward; /* NULL: rows stay */
	bool begun;
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
	intake->logs = (struct intake_logs){.directory = intake->directory, .rows = intake->rows};
	if (r == 0)
		r = intake_begin(intake, failure);
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
	/* What is wrong with a log that cannot be gone on with, its next delivery says. */
	return r == -EBADMSG ? 0 : r;
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
	/* The logs first: rows can be made of them, they not of rows. */
	int r = intake_logs_sync(&intake->logs, failure);

	if (r == 0)
		r = rows_commit(intake->rows, failure);
	if (r < 0)
		return r;
	intake->begun = false;
	return intake_logs_rotate(&intake->logs, failure);
}

int intake_refuse(struct intake *intake, const struct delivery *delivery, const char *reason,
		  struct failure *failure)
{
	return apart_keep(intake->directory, intake->rows, delivery, reason, failure);
}

/* What a host says of itself, under the chain or on its way there. */
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

/* An early record that the log does not have: somebody made it up on its way. */
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

/* Is this record the one that the log has? */
static bool is_known(const struct host_log *log, const struct batch_record *record)
{
	_cleanup_(freep) char *line = NULL;
	uint64_t segment, offset;
	size_t size;

	return host_log_find(log->path, record->sequence, &segment, &offset, &line, &size) == 0 &&
	       size == record->size && memcmp(line, record->line, size) == 0;
}

/* One that begins with the log's next record or before. -EBADMSG: it does not fit. */
static int fit(struct intake *intake, struct host_log *log, const struct batch *batch, uint64_t now,
	       enum intake_result *ret_result, struct failure *failure)
{
	unsigned char chain[SHA256_SIZE];
	uint64_t sequence = log->segment.sequence, offset;
	size_t from = 0;
	int r;

	for (; from < batch->count && batch->records[from].sequence <= sequence; from++)
		if (!is_known(log, &batch->records[from]))
			return failure_set(failure, EBADMSG,
					   "the store has another record %" PRIu64 " of this log",
					   batch->records[from].sequence);
	*ret_result = INTAKE_KNOWN;
	if (from == batch->count)
		return 0;
	memcpy(chain, log->segment.chain, sizeof(chain));
	r = batch_follow(batch, from, &sequence, chain, failure);
	if (r == 0)
		r = host_log_append(log, batch, from, &offset, failure);
	if (r == 0)
		r = add_rows(intake, log, batch, from, offset, now, failure);
	if (r == 0)
		*ret_result = INTAKE_TAKEN;
	return r;
}

/* What waited for what has come now. */
static int take_due(struct intake *intake, struct host_log *log, const struct delivery *cause,
		    struct failure *failure)
{
	for (;;) {
		struct delivery delivery = *cause;
		_cleanup_(freep) char *data = NULL;
		struct batch batch = {};
		enum intake_result result;
		struct failure why = {};
		int64_t id;
		int r = rows_due(intake->rows, &log->rows, log->segment.sequence + 1, &id, &data,
				 &delivery.size, failure);

		if (r < 0)
			return r == -ENOENT ? 0 : r;
		delivery.data = data;
		delivery.first = delivery.last = 0;
		r = batch_read(&delivery, &batch, &why);
		if (r == 0)
			r = fit(intake, log, &batch, cause->now, &result, &why);
		batch_free(&batch);
		if (r == -EBADMSG)
			r = intake_refuse(intake, &delivery, why.text, &why);
		if (r == 0)
			r = rows_waited(intake->rows, id, &why);
		if (r < 0)
			return failure_set(failure, r, "%s", why.text);
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

/*
 * A log whose beginning was deleted on its host, on record: begins where that record says, with
 * the chain it says.
 */
static void anchor(struct intake *intake, struct host_log *log)
{
	char chain[SHA256_TEXT_SIZE];
	uint64_t last;

	if (log->segment.sequence > 0 || rows_anchor(intake->rows, &log->rows, &last, chain) < 0)
		return;
	if (hex_decode(chain, log->segment.chain, SHA256_SIZE) < 0)
		return;
	log->segment.sequence = last;
	log->rows.contiguous = last;
}

static int wait_for_more(struct intake *intake, struct host_log *log,
			 const struct delivery *delivery, const struct batch *batch,
			 struct failure *failure)
{
	uint64_t bytes = 0;
	int r = rows_waiting_bytes(intake->rows, &log->rows, &bytes, failure);

	if (r == 0 && bytes + delivery->size > WAITING_BYTES_MAX)
		return -EAGAIN;
	if (r == 0)
		r = rows_wait(intake->rows, &log->rows, batch->records[0].sequence,
			      batch->records[batch->count - 1].sequence, delivery->data,
			      delivery->size, failure);
	return r == 0 && log->segment.sequence == 0 ? note_retentions(intake, log, batch, failure)
						    : r;
}

static int take_bulk(struct intake *intake, struct host_log *log, const struct delivery *delivery,
		     const struct batch *batch, enum intake_result *ret_result,
		     struct failure *failure)
{
	int r;

	if (batch->records[0].sequence > log->segment.sequence + 1) {
		*ret_result = INTAKE_WAITS;
		r = wait_for_more(intake, log, delivery, batch, failure);
		if (r == 0 && delivery->now - log->rows.first_heard >= intake->patience)
			anchor(intake, log);
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
			if (!is_known(log, record))
				return failure_set(failure, EBADMSG,
						   "the store has another record %" PRIu64
						   " of this log",
						   record->sequence);
			continue;
		}
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
		r = policy_copy_keep(intake->directory, log->path, digest, delivery->data,
				     delivery->size, &why);
	if (r == -EBADMSG)
		return intake_refuse(intake, delivery, why.text, failure);
	return r < 0 ? failure_set(failure, r, "%s", why.text) : 0;
}
