/* SPDX-License-Identifier: Apache-2.0 */
/* Appends records to the audit log: chained, sealed, rotated and flushed. */
#include "audit/write/log.h"

#include <limits.h>
#include <string.h>
#include <sys/statvfs.h>

#include "audit/storage/chain.h"
#include "audit/write/log_parts.h"
#include "audit/storage/storage.h"

/*
 * Beyond this much in the buffer, appending writes without being asked to; what comes while that
 * fails is lost, and counted.
 */
#define BUFFER_HIGH (1u << 20)

/* A wall clock that moves by more than this against the boot clock was set, not slewed. */
#define CLOCK_STEP_NSEC (2 * (int64_t)NSEC_PER_SEC)

/* A new execution is refused when less than this is left: room for the records of those alive. */
#define RESERVE_BYTES (1u << 20)

static void count_lost(struct audit_log *log, int error)
{
	if (log->lost.records++ == 0) {
		log->lost.error = error;
		log_copy_time(log->lost.from, log->last_time);
	}
	log_copy_time(log->lost.to, log->last_time);
}

/* Moves `persisted` behind the pending lines that are wholly written; returns where they end. */
static size_t settle(struct audit_log *log)
{
	size_t start = 0;

	while (start < log->written) {
		const char *line = log->pending.data + start;
		const char *newline = memchr(line, '\n', log->pending.size - start);
		size_t next = (size_t)(newline + 1 - log->pending.data), body;

		if (next > log->written)
			break;
		chain_split(line, (size_t)(newline - line), &body, &log->persisted.sequence,
			    log->persisted.chain);
		start = next;
	}
	return start;
}

/* The log's file was removed or moved away: goes on in a new one. */
static int take_over(struct audit_log *log)
{
	struct segment old = log->segment;
	struct buffer lines = {0};
	size_t unwritten;
	int r;

	/* The lock file may still be the same, and two descriptors exclude each other. */
	closep(&log->segment.lock_fd);
	log->segment.lock_fd = -1;
	r = segment_open(log->directory, log->options.shown, &log->segment, NULL);
	if (r < 0)
		return r;
	log_seal_keep(log);
	unwritten = settle(log);
	/* The log is one, whatever became of its files: what is missing must show. */
	log->segment.sequence = log->persisted.sequence;
	memcpy(log->segment.chain, log->persisted.chain, SHA256_SIZE);
	r = log_line_takeover(log, &lines);
	log->identity_due = log->options.identity;
	if (r == 0)
		r = log_identity_add(log, &lines);
	if (r == 0)
		r = log_lines_recompose(log, &lines, unwritten);
	if (r < 0) {
		buffer_free(&lines);
		segment_close(&log->segment);
		log->segment = old;
		log->segment.lock_fd = -1;
		return r;
	}
	log->segment_time = log->options.clock(CLOCK_REALTIME);
	closep(&old.fd);
	closep(&old.directory_fd);
	buffer_free(&log->pending);
	log->pending = lines;
	log->written = 0;
	return 0;
}

int log_write_pending(struct audit_log *log)
{
	while (log->written < log->pending.size) {
		ssize_t n = storage_append(log->segment.fd, log->pending.data + log->written,
					   log->pending.size - log->written);

		if (n < 0)
			return (int)n;
		log->written += (size_t)n;
		log->segment.size += (uint64_t)n;
		log->appended += (uint64_t)n;
	}
	if (log->segment.first == 0 && log->segment.sequence > log->persisted.sequence) {
		log->segment.first = log->persisted.sequence + 1;
		log->segment_time = log->options.clock(CLOCK_REALTIME);
	}
	log->persisted.sequence = log->segment.sequence;
	memcpy(log->persisted.chain, log->segment.chain, SHA256_SIZE);
	log->pending.size = log->written = 0;
	return 0;
}

/* Where it fails, as for want of space, the segment goes on. */
static void rotate_when_due(struct audit_log *log)
{
	const struct audit_log_options *options = &log->options;
	uint64_t now;

	if (log->segment.first == 0 || log->pending.size > 0)
		return;
	now = options->clock(CLOCK_REALTIME);
	if ((options->segment_bytes > 0 && log->segment.size >= options->segment_bytes) ||
	    (options->segment_nsec > 0 && now >= log->segment_time &&
	     now - log->segment_time >= options->segment_nsec)) {
		if (log_seal(log) == 0 && segment_rotate(&log->segment) == 0)
			log->identity_due = log->options.identity;
		log->segments_changed = true;
	}
}

static int flush(struct audit_log *log, bool sync)
{
	int r;

	if (log->segment.lock_fd < 0 || !segment_is_current(&log->segment, log->directory)) {
		r = take_over(log);
		if (r < 0)
			return r;
	}
	r = log_write_pending(log);
	if (r == 0)
		r = log_seal_finish(log);
	if (r < 0)
		return r;
	if (log->lost.records > 0) {
		r = log_identity_add(log, &log->pending);
		if (r == 0)
			r = log_line_loss(log);
		if (r < 0)
			return r;
		r = log_write_pending(log);
		if (r < 0)
			return r;
	}
	rotate_when_due(log);
	return sync ? storage_sync(log->segment.fd) : 0;
}

int audit_log_flush(struct audit_log *log, bool sync)
{
	log->error = flush(log, sync);
	return log->error;
}

/* Has what has been appended so far made the buffer large? */
static void write_when_large(struct audit_log *log)
{
	/* What goes wrong here is remembered, and the record is kept. */
	if (log->pending.size >= BUFFER_HIGH)
		audit_log_flush(log, false);
}

static int may_append(const struct audit_log *log)
{
	return log->pending.size < BUFFER_HIGH ? 0 : log->error;
}

int audit_log_append(struct audit_log *log, json_t *record)
{
	const char *time = json_string_value(json_object_get(record, "@timestamp"));
	int r = may_append(log);

	if (json_object_get(record, "seq") || json_object_get(record, "chain"))
		return -EINVAL;
	log_copy_time(log->last_time, time ? time : "");
	if (r == 0)
		r = log_identity_add(log, &log->pending);
	if (r == 0)
		r = log_line_record(log, &log->pending, record);
	if (r < 0)
		count_lost(log, r);
	else
		write_when_large(log);
	return r;
}

int audit_log_append_text(struct audit_log *log, const char *record, size_t size)
{
	static const char head[] = "{\"@timestamp\":\"";
	int r = may_append(log);

	if (size < sizeof(head) + CLOCK_TEXT_SIZE || memcmp(record, head, sizeof(head) - 1) != 0 ||
	    record[size - 1] != '}')
		return -EINVAL;
	memcpy(log->last_time, record + sizeof(head) - 1, CLOCK_TEXT_SIZE - 2);
	log->last_time[CLOCK_TEXT_SIZE - 2] = '\0';
	if (r == 0)
		r = log_identity_add(log, &log->pending);
	if (r == 0)
		r = log_line_compose(log, &log->pending, record + 1, size - 2);
	if (r < 0)
		count_lost(log, r);
	else
		write_when_large(log);
	return r;
}

/* A clock that was set puts records out of order, or hides that time passed. */
static void record_clock_step(struct audit_log *log)
{
	int64_t offset =
		(int64_t)(log->options.clock(CLOCK_REALTIME) - log->options.clock(CLOCK_BOOTTIME));
	int64_t step = offset - log->clock_offset;
	_cleanup_(log_json_decrefp) json_t *record = NULL;
	char time[CLOCK_TEXT_SIZE];

	if (step > -CLOCK_STEP_NSEC && step < CLOCK_STEP_NSEC)
		return;
	log->clock_offset = offset;
	clock_format(log->options.clock(CLOCK_REALTIME), time);
	record = json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:i, s:{s:I}}}", "@timestamp", time,
			   "event", "kind", "event", "action", "agent-clock-step", "outcome",
			   "unknown", "cordon", "schema", 1, "agent", "by_ms",
			   (json_int_t)(step / (int64_t)NSEC_PER_MSEC));
	if (record)
		(void)audit_log_append(log, record);
}

bool audit_log_tick(struct audit_log *log)
{
	uint64_t now = log->options.clock(CLOCK_BOOTTIME);

	record_clock_step(log);
	log_seal_load_keys(log);
	if (log_seal_is_due(log, now) && audit_log_flush(log, false) == 0)
		log->error = log_seal(log);
	if (log->error == 0 && segment_is_current(&log->segment, log->directory))
		rotate_when_due(log);
	if (log->error == 0)
		log_closed_keep_up(log, now);
	return (log->options.seal_nsec > 0 && log_seal_is_wanted(log)) || log->compress.job ||
	       log->segments_changed;
}

int audit_log_writable(struct audit_log *log)
{
	struct statvfs space;
	int r;

	if (log->error < 0 || !segment_is_current(&log->segment, log->directory)) {
		r = audit_log_flush(log, false);
		if (r < 0)
			return r;
	}
	if (fstatvfs(log->segment.fd, &space) < 0)
		return -errno;
	if (space.f_flag & ST_RDONLY)
		return -EROFS;
	/* File systems that cannot tell have no blocks at all. */
	log->free = space.f_blocks > 0 ? (uint64_t)space.f_bavail * space.f_frsize : UINT64_MAX;
	return log->free < RESERVE_BYTES ? -ENOSPC : 0;
}

void audit_log_position(const struct audit_log *log, struct audit_log_position *ret_position)
{
	*ret_position = (struct audit_log_position){.sequence = log->persisted.sequence};
	memcpy(ret_position->chain, log->persisted.chain, SHA256_SIZE);
	if (log->sealing.file.fd >= 0)
		ret_position->key = log->sealing.file.key;
	memcpy(ret_position->id, log->id, sizeof(log->id));
}

void audit_log_figures(const struct audit_log *log, struct audit_log_figures *ret_figures)
{
	const struct sealing *sealing = &log->sealing;

	*ret_figures = (struct audit_log_figures){
		.sequence = log->persisted.sequence,
		.written = log->appended,
		.free = log->free,
		.sealing = sealing->file.fd >= 0,
		.sealed = sealing->sequence,
		.sealed_at = sealing->time,
	};
}

int audit_log_continue(struct audit_log *log, const struct audit_log_position *position)
{
	struct sealing *sealing = &log->sealing;

	log->pending.size = log->written = 0;
	log->persisted.sequence = log->segment.sequence = position->sequence;
	memcpy(log->persisted.chain, position->chain, SHA256_SIZE);
	memcpy(log->segment.chain, position->chain, SHA256_SIZE);
	if (sealing->file.fd < 0 && position->key.number > 0 &&
	    seal_file_create(log->segment.directory_fd, &position->key, &sealing->file) == 0) {
		sealing->last = (struct seal_claim){.number = position->key.number - 1};
		memcpy(sealing->last.id, position->key.id, SEAL_ID_SIZE);
	}
	clock_format(log->options.clock(CLOCK_REALTIME), log->last_time);
	/* It is the same log, in another place. */
	if (position->id[0])
		memcpy(log->id, position->id, sizeof(log->id));
	log->identity_due = log->options.identity;
	return log_line_takeover(log, &log->pending);
}

void audit_log_lose(struct audit_log *log, uint64_t records, int error)
{
	if (records == 0)
		return;
	clock_format(log->options.clock(CLOCK_REALTIME), log->last_time);
	count_lost(log, error);
	log->lost.records += records - 1;
}

uint64_t audit_log_lost(const struct audit_log *log)
{
	return log->lost.records;
}

const char *audit_log_directory(const struct audit_log *log)
{
	return log->directory;
}

static void log_free(struct audit_log *log)
{
	seal_file_close(&log->sealing.file);
	seal_file_close(&log->sealing.next);
	segment_close(&log->segment);
	if (log->hash)
		sha256_free(log->hash);
	buffer_free(&log->pending);
	buffer_free(&log->scratch);
	free(log->directory);
	free(log);
}
DEFINE_CLEANUP(struct audit_log *, log_free, log_freep)

/* When the segment at hand was begun: its first record says. */
static uint64_t segment_begun(const struct audit_log *log)
{
	static const char member[] = ",\"@timestamp\":\"";
	uint64_t now = log->options.clock(CLOCK_REALTIME), time;
	char head[256] = "";
	const char *found;

	if (pread(log->segment.fd, head, sizeof(head) - 1, 0) <= 0)
		return now;
	found = strstr(head, member);
	if (!found || clock_parse(found + sizeof(member) - 1, &time) < 0)
		return now;
	return time;
}

/*
 * A segment of another boot, build or name of this host ends here, so that its head is true for all
 * of it.
 */
static int begin_identity(struct audit_log *log)
{
	bool changed = false;
	int r = log_identity_find(log, &changed);

	if (r < 0)
		return r;
	/* Where it cannot be closed, as for want of space, the record comes in its midst. */
	if (changed && log->segment.first > 0 && log_seal(log) == 0 &&
	    segment_rotate(&log->segment) == 0)
		log->segments_changed = true;
	log->identity_due = changed;
	return log->segment.first == 0 ? log_identity_add(log, &log->pending) : 0;
}

int audit_log_open(const char *directory, const struct audit_log_options *options,
		   struct audit_log **ret_log, uint64_t *ret_repaired, struct failure *failure)
{
	static const struct audit_log_options defaults = AUDIT_LOG_DEFAULTS;
	_cleanup_(log_freep) struct audit_log *log = calloc(1, sizeof(*log));
	int r;

	if (!log)
		return -ENOMEM;
	log->segment = (struct segment)SEGMENT_INIT;
	log->sealing.file = log->sealing.next = (struct seal_file)SEAL_FILE_INIT;
	log->options = options ? *options : defaults;
	if (!log->options.clock)
		log->options.clock = clock_nsec;
	log->hash = sha256_new();
	log->directory = strdup(directory);
	if (!log->hash || !log->directory)
		return -ENOMEM;
	r = segment_open(directory, log->options.shown, &log->segment, failure);
	if (r < 0)
		return r;
	log->segment_time = segment_begun(log);
	log->clock_offset =
		(int64_t)(log->options.clock(CLOCK_REALTIME) - log->options.clock(CLOCK_BOOTTIME));
	log->free = UINT64_MAX;
	log->segments_changed = true;
	log->segments_time = log->options.clock(CLOCK_BOOTTIME);
	(void)storage_remove(log->segment.directory_fd, COMPRESS_NAME);
	log_seal_find_last(log);
	log_seal_load_keys(log);
	log->persisted.sequence = log->segment.sequence;
	memcpy(log->persisted.chain, log->segment.chain, SHA256_SIZE);
	r = begin_identity(log);
	if (r == 0 && log->segment.crashed)
		r = log_line_crash(log);
	if (r < 0)
		return r;
	*ret_repaired = log->segment.repaired;
	*ret_log = TAKE_PTR(log);
	return 0;
}

void audit_log_close(struct audit_log *log)
{
	if (log->compress.job) {
		compress_wait(&log->compress);
		log_closed_adopt(log);
	}
	if (audit_log_flush(log, true) == 0 && log_seal(log) == 0)
		(void)segment_stop(&log->segment);
	log_free(log);
}
