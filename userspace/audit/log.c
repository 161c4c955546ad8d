/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/log.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "audit/buffer.h"
#include "audit/chain.h"
#include "audit/compress.h"
#include "audit/ending.h"
#include "audit/names.h"
#include "audit/seal.h"
#include "audit/segment.h"
#include "audit/segments.h"
#include "audit/storage.h"
#include "base/clock.h"
#include "base/hex.h"

DEFINE_CLEANUP(json_t *, json_decref, log_json_decrefp)

/*
 * Beyond this much in the buffer, appending writes without being asked to; what comes while that fails is
 * lost, and counted.
 */
#define BUFFER_HIGH (1u << 20)

/* Room for {"seq":N, */
#define LINE_HEAD_MAX 48u

/* A wall clock that moves by more than this against the boot clock was set, not slewed. */
#define CLOCK_STEP_NSEC (2 * (int64_t)NSEC_PER_SEC)

/* A new execution is refused when less than this is left: room for the records of those alive. */
#define RESERVE_BYTES (1u << 20)

struct losses {
	uint64_t records;
	int error; /* of the first */
	char from[CLOCK_TEXT_SIZE], to[CLOCK_TEXT_SIZE];
};

/* How far the file goes. */
struct mark {
	uint64_t sequence;
	unsigned char chain[SHA256_SIZE];
};

struct sealing {
	struct seal_file file; /* fd -1: nothing is sealed */
	uint64_t sequence;     /* of the last seal's record */
	uint64_t number;       /* of the last seal */
	uint64_t time;	       /* when that was, boot clock */
	bool unfinished;       /* a seal is pending, or written and its key not yet erased */
};

struct audit_log {
	char *directory;
	struct sealing sealing;
	struct compress compress;
	bool segments_changed;	/* there may be some to compress, or to delete */
	uint64_t segments_time; /* when they were last looked at, boot clock */
	int64_t clock_offset;	/* wall clock minus boot clock, when last looked at */
	struct audit_log_options options;
	uint64_t segment_time;	/* when the first record of the segment was written */
	struct segment segment; /* sequence and chain in it: of the last line composed */
	struct sha256 *hash;
	struct buffer pending; /* whole lines */
	size_t written;	       /* bytes of `pending` that are in the file */
	struct mark persisted; /* the last line before `pending` */
	struct buffer scratch; /* one record's JSON */
	int error;	       /* of the last write, until one succeeds */
	struct losses lost;
	char last_time[CLOCK_TEXT_SIZE]; /* of the last record, lost ones included */
};

static int dump_piece(const char *data, size_t size, void *to)
{
	buffer_add(to, data, size);
	return ((struct buffer *)to)->failed ? -1 : 0;
}

/*
 * Adds a line to `to` and moves the chain on. `members`: the record's JSON without its outer
 * braces.
 */
static int compose_line(struct audit_log *log, struct buffer *to, const char *members, size_t size)
{
	unsigned char digest[SHA256_SIZE];
	size_t before = to->size;
	int r;

	if (size + LINE_HEAD_MAX + CHAIN_TAIL_SIZE > CHAIN_LINE_MAX)
		return -EMSGSIZE;
	to->failed = false;
	if (!buffer_reserve(to, size + LINE_HEAD_MAX + CHAIN_TAIL_SIZE))
		return -ENOMEM;
	buffer_literal(to, "{\"seq\":");
	buffer_number(to, log->segment.sequence + 1);
	buffer_literal(to, ",");
	buffer_add(to, members, size);
	r = chain_digest(log->hash, log->segment.chain, to->data + before, to->size - before,
			 digest);
	if (r < 0) {
		to->size = before;
		return r;
	}
	chain_write_tail(digest, to->data + to->size);
	to->size += CHAIN_TAIL_SIZE;
	log->segment.sequence++;
	memcpy(log->segment.chain, digest, sizeof(digest));
	return 0;
}

/* ASCII only, so that a log can be shown on a terminal without harm. */
static int compose_record(struct audit_log *log, struct buffer *to, json_t *record)
{
	log->scratch.size = 0;
	log->scratch.failed = false;
	if (json_dump_callback(record, dump_piece, &log->scratch,
			       JSON_COMPACT | JSON_ENSURE_ASCII) < 0)
		return -ENOMEM;
	if (log->scratch.size <= 2)
		return -EINVAL;
	return compose_line(log, to, log->scratch.data + 1, log->scratch.size - 2);
}

static void copy_time(char to[CLOCK_TEXT_SIZE], const char *from)
{
	snprintf(to, CLOCK_TEXT_SIZE, "%s", from);
}

static void count_lost(struct audit_log *log, int error)
{
	if (log->lost.records++ == 0) {
		log->lost.error = error;
		copy_time(log->lost.from, log->last_time);
	}
	copy_time(log->lost.to, log->last_time);
}

static json_t *gap_record(const struct audit_log *log, json_t *gap)
{
	return json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:i, s:o}}", "@timestamp", log->last_time,
			 "event", "kind", "event", "action", "gap", "outcome", "unknown", "cordon",
			 "schema", 1, "gap", gap);
}

/* Says how many records could not be written. */
static int compose_loss(struct audit_log *log)
{
	_cleanup_(log_json_decrefp) json_t *record = NULL;
	int r;

	record = gap_record(log, json_pack("{s:s, s:I, s:s, s:s, s:s}", "of", "records", "missing",
					   (json_int_t)log->lost.records, "error",
					   name_of_error(-log->lost.error), "from", log->lost.from,
					   "to", log->lost.to));
	if (!record)
		return -ENOMEM;
	r = compose_record(log, &log->pending, record);
	if (r < 0)
		return r;
	memset(&log->lost, 0, sizeof(log->lost));
	return 0;
}

/* First behind a file that went away: what that one ended with. */
static int compose_takeover(struct audit_log *log, struct buffer *to)
{
	_cleanup_(log_json_decrefp) json_t *record = NULL;
	char text[SHA256_TEXT_SIZE];

	hex_encode(log->persisted.chain, SHA256_SIZE, text);
	record = gap_record(log, json_pack("{s:s, s:n, s:{s:I, s:s}}", "of", "log", "missing",
					   "previous", "seq", (json_int_t)log->persisted.sequence,
					   "chain", text));
	return record ? compose_record(log, to, record) : -ENOMEM;
}

/* Composes again, for the chain at hand, the pending lines that are not wholly written. */
static int recompose(struct audit_log *log, struct buffer *to, size_t start)
{
	while (start < log->pending.size) {
		const char *line = log->pending.data + start;
		const char *newline = memchr(line, '\n', log->pending.size - start);
		const char *members = memchr(line, ',', (size_t)(newline - line));
		const char *end = newline + 1 - CHAIN_TAIL_SIZE;
		struct seal_claim claim;
		int r = 0;

		/* A seal is made for its place. It is made anew, with the same key. */
		if (seal_claim_parse(line, (size_t)(newline - line), &claim) == 0)
			log->sealing.unfinished = false;
		else
			r = compose_line(log, to, members + 1, (size_t)(end - members - 1));
		if (r < 0)
			return r;
		start = (size_t)(newline + 1 - log->pending.data);
	}
	return 0;
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

/* In a directory made anew there is no key: the one at hand goes there. */
static void keep_sealing(struct audit_log *log)
{
	struct seal_file file = SEAL_FILE_INIT;

	if (log->sealing.file.fd < 0 ||
	    faccessat(log->segment.directory_fd, SEAL_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	if (seal_file_create(log->segment.directory_fd, &log->sealing.file.key, &file) < 0)
		return;
	seal_file_close(&log->sealing.file);
	log->sealing.file = file;
	seal_key_erase(&file.key);
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
	keep_sealing(log);
	unwritten = settle(log);
	/* The log is one, whatever became of its files: what is missing must show. */
	log->segment.sequence = log->persisted.sequence;
	memcpy(log->segment.chain, log->persisted.chain, SHA256_SIZE);
	r = compose_takeover(log, &lines);
	if (r == 0)
		r = recompose(log, &lines, unwritten);
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

static int write_pending(struct audit_log *log)
{
	while (log->written < log->pending.size) {
		ssize_t n = storage_append(log->segment.fd, log->pending.data + log->written,
					   log->pending.size - log->written);

		if (n < 0)
			return (int)n;
		log->written += (size_t)n;
		log->segment.size += (uint64_t)n;
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

/* --- sealing ------------------------------------------------------------------------------ */

/* The last seal that the segment holds; number 0: none. */
static void find_last_seal(const struct audit_log *log, uint64_t *ret_number,
			   uint64_t *ret_sequence)
{
	size_t size = log->segment.size;
	const char *data, *at, *line = NULL;
	struct seal_claim claim;

	*ret_number = *ret_sequence = 0;
	data = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, log->segment.fd, 0) : MAP_FAILED;
	if (data == MAP_FAILED)
		return;
	at = data;
	while ((at = memmem(at, size - (size_t)(at - data), SEAL_EVENT, sizeof(SEAL_EVENT) - 1))) {
		const char *newline = memchr(at, '\n', size - (size_t)(at - data));

		line = memrchr(data, '\n', (size_t)(at - data));
		line = line ? line + 1 : data;
		if (newline && seal_claim_parse(line, (size_t)(newline - line), &claim) == 0 &&
		    chain_sequence(line, (size_t)(newline - line), ret_sequence) == 0)
			*ret_number = claim.number;
		at++;
	}
	munmap((void *)data, size);
}

/* Takes up the key, where there is one. A crash, or a failure, may have come between a seal and erasing its key. */
static void load_key(struct audit_log *log)
{
	struct sealing *sealing = &log->sealing;

	if (sealing->file.fd >= 0 || seal_file_open(log->segment.directory_fd, &sealing->file) < 0)
		return;
	while (sealing->file.key.number <= sealing->number) {
		if (seal_file_advance(&sealing->file) < 0) {
			seal_file_close(&sealing->file);
			return;
		}
	}
}

/* The seal is written: now it must be on disk before its key goes. */
static int finish_seal(struct audit_log *log)
{
	struct sealing *sealing = &log->sealing;
	int r;

	if (!sealing->unfinished || log->pending.size > 0)
		return 0;
	r = storage_sync(log->segment.fd);
	if (r < 0)
		return r;
	sealing->unfinished = false;
	/* Without the next key nothing can be sealed; load_key() tries again. */
	if (seal_file_advance(&sealing->file) < 0)
		seal_file_close(&sealing->file);
	return 0;
}

static int compose_seal(struct audit_log *log)
{
	struct sealing *sealing = &log->sealing;
	char text[SEAL_RECORD_SIZE], time[CLOCK_TEXT_SIZE];
	uint64_t boot = log->options.clock(CLOCK_BOOTTIME);
	unsigned char mac[SHA256_SIZE];
	size_t size;
	int r;

	clock_format(log->options.clock(CLOCK_REALTIME), time);
	size = seal_claim_format(time, &sealing->file.key, boot, text);
	log->scratch.size = 0;
	log->scratch.failed = false;
	buffer_literal(&log->scratch, "{\"seq\":");
	buffer_number(&log->scratch, log->segment.sequence + 1);
	buffer_literal(&log->scratch, ",");
	buffer_add(&log->scratch, text + 1, size - 1);
	if (log->scratch.failed)
		return -ENOMEM;
	r = seal_mac(&sealing->file.key, log->segment.chain, log->scratch.data, log->scratch.size,
		     mac);
	if (r < 0)
		return r;
	size += seal_claim_end(mac, text + size);
	r = compose_line(log, &log->pending, text + 1, size - 2);
	if (r < 0)
		return r;
	copy_time(log->last_time, time);
	sealing->unfinished = true;
	sealing->sequence = log->segment.sequence;
	sealing->number = sealing->file.key.number;
	sealing->time = boot;
	return 0;
}

static bool is_unsealed(const struct audit_log *log)
{
	return log->sealing.file.fd >= 0 && log->segment.sequence > log->sealing.sequence;
}

/* With nothing pending: what is sealed is on disk. */
static int seal(struct audit_log *log)
{
	int r;

	if (!is_unsealed(log) || log->sealing.unfinished || log->pending.size > 0)
		return 0;
	r = compose_seal(log);
	if (r == 0)
		r = write_pending(log);
	return r < 0 ? r : finish_seal(log);
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
		if (seal(log) == 0)
			(void)segment_rotate(&log->segment);
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
	r = write_pending(log);
	if (r == 0)
		r = finish_seal(log);
	if (r < 0)
		return r;
	if (log->lost.records > 0) {
		r = compose_loss(log);
		if (r < 0)
			return r;
		r = write_pending(log);
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
	copy_time(log->last_time, time ? time : "");
	if (r == 0)
		r = compose_record(log, &log->pending, record);
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
		r = compose_line(log, &log->pending, record + 1, size - 2);
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

/* --- closed segments ---------------------------------------------------------------------- */

/* Appends a record about the log itself, and has it on disk. */
static int record_at_once(struct audit_log *log, const char *action, const char *member,
			  json_t *details)
{
	_cleanup_(log_json_decrefp) json_t *record = NULL;
	char time[CLOCK_TEXT_SIZE];
	int r;

	clock_format(log->options.clock(CLOCK_REALTIME), time);
	record = json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:i, s:o}}", "@timestamp", time, "event",
			   "kind", "event", "action", action, "outcome", "success", "cordon",
			   "schema", 1, member, details);
	r = record ? audit_log_append(log, record) : -ENOMEM;
	return r < 0 ? r : audit_log_flush(log, true);
}

/* A compressed segment takes the place of the plain one, once the log says what is in it. */
static void adopt_compressed(struct audit_log *log)
{
	const struct compress *done = &log->compress;
	char digest[SHA256_TEXT_SIZE], plain[SEGMENTS_NAME_SIZE], compressed[SEGMENTS_NAME_SIZE];
	int fd = log->segment.directory_fd, r = done->error;

	hex_encode(done->digest, SHA256_SIZE, digest);
	segments_name(done->first, false, plain);
	segments_name(done->first, true, compressed);
	if (r == 0)
		r = record_at_once(log, "segment-compressed", "segment",
				   json_pack("{s:I, s:I, s:s}", "first", (json_int_t)done->first,
					     "bytes", (json_int_t)done->bytes, "sha256", digest));
	if (r == 0)
		r = storage_rename(fd, COMPRESS_NAME, compressed);
	if (r == 0)
		r = storage_sync_directory(fd);
	if (r == 0)
		r = storage_remove(fd, plain);
	if (r < 0)
		(void)storage_remove(fd, COMPRESS_NAME);
	/* After a failure, as for want of space, another segment closed is the time to try again. */
	log->segments_changed = r == 0;
	log->compress.first = 0;
}

static void compress_next(struct audit_log *log, const struct segments *segments)
{
	for (size_t i = 0; log->options.compress && i < segments->count; i++) {
		const struct segments_entry *entry = &segments->entries[i];
		char name[SEGMENTS_NAME_SIZE];

		if (entry->both) {
			/* A crash came before it was removed. */
			segments_name(entry->first, false, name);
			(void)storage_remove(log->segment.directory_fd, name);
		} else if (!entry->compressed) {
			(void)compress_start(&log->compress, log->segment.directory_fd,
					     entry->first);
			return;
		}
	}
}

/* How many of the oldest segments the settings have deleted, and why. */
static size_t count_expired(const struct audit_log *log, const struct segments *segments,
			    const char **ret_reason)
{
	const struct audit_log_options *options = &log->options;
	uint64_t now = options->clock(CLOCK_REALTIME), bytes = 0;

	/* From the newest: whatever breaks a bound, and all that is older, goes. */
	for (size_t i = segments->count; i > 0; i--) {
		const struct segments_entry *entry = &segments->entries[i - 1];
		char name[SEGMENTS_NAME_SIZE];
		struct stat status;
		uint64_t changed;

		segments_name(entry->first, entry->compressed, name);
		if (fstatat(log->segment.directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		bytes += (uint64_t)status.st_size;
		changed = (uint64_t)status.st_mtim.tv_sec * NSEC_PER_SEC;
		*ret_reason = NULL;
		if (options->keep_segments > 0 && segments->count - i >= options->keep_segments)
			*ret_reason = "count";
		else if (options->keep_bytes > 0 && bytes > options->keep_bytes)
			*ret_reason = "size";
		else if (options->keep_nsec > 0 && now > changed &&
			 now - changed > options->keep_nsec)
			*ret_reason = "age";
		if (*ret_reason)
			return i;
	}
	return 0;
}

/* Deletes the oldest segments. That is on record before, so that it is no tampering. */
static void delete_expired(struct audit_log *log, const struct segments *segments)
{
	const char *reason = NULL;
	size_t count = count_expired(log, segments, &reason);
	char name[SEGMENTS_NAME_SIZE], path[PATH_MAX], chain[SHA256_TEXT_SIZE];
	const struct segments_entry *last;
	struct ending ending;
	int fd = log->segment.directory_fd;

	if (count == 0)
		return;
	last = &segments->entries[count - 1];
	segments_name(last->first, last->compressed, name);
	if (snprintf(path, sizeof(path), "%s/%s", log->directory, name) >= (int)sizeof(path) ||
	    ending_of_closed(path, last->compressed, &ending) < 0)
		return;
	hex_encode(ending.chain, SHA256_SIZE, chain);
	if (record_at_once(log, "retention", "retention",
			   json_pack("{s:I, s:I, s:s, s:I, s:s}", "first",
				     (json_int_t)segments->entries[0].first, "last",
				     (json_int_t)ending.sequence, "chain", chain, "segments",
				     (json_int_t)count, "reason", reason)) < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		segments_name(segments->entries[i].first, segments->entries[i].compressed, name);
		(void)storage_remove(fd, name);
	}
	(void)storage_sync_directory(fd);
}

/* Looks at the closed segments when one was added, and every hour for those that got too old. */
static void keep_up(struct audit_log *log, uint64_t now)
{
	struct segments segments;

	if (log->compress.job) {
		if (compress_finish(&log->compress))
			adopt_compressed(log);
		return;
	}
	if (log->options.keep_nsec > 0 && now - log->segments_time >= 3600 * NSEC_PER_SEC)
		log->segments_changed = true;
	if (!log->segments_changed || segments_list(log->directory, &segments) < 0)
		return;
	log->segments_changed = false;
	log->segments_time = now;
	delete_expired(log, &segments);
	segments_free(&segments);
	if (segments_list(log->directory, &segments) < 0)
		return;
	compress_next(log, &segments);
	segments_free(&segments);
}

bool audit_log_tick(struct audit_log *log)
{
	const struct sealing *sealing = &log->sealing;
	uint64_t now = log->options.clock(CLOCK_BOOTTIME);

	record_clock_step(log);
	load_key(log);
	if (log->options.seal_nsec > 0 && is_unsealed(log) && now >= sealing->time &&
	    now - sealing->time >= log->options.seal_nsec && audit_log_flush(log, false) == 0)
		log->error = seal(log);
	if (log->error == 0 && segment_is_current(&log->segment, log->directory))
		rotate_when_due(log);
	if (log->error == 0)
		keep_up(log, now);
	return (log->options.seal_nsec > 0 && is_unsealed(log)) || log->compress.job ||
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
	if (space.f_blocks > 0 && (uint64_t)space.f_bavail * space.f_frsize < RESERVE_BYTES)
		return -ENOSPC;
	return 0;
}

void audit_log_position(const struct audit_log *log, struct audit_log_position *ret_position)
{
	*ret_position = (struct audit_log_position){.sequence = log->persisted.sequence};
	memcpy(ret_position->chain, log->persisted.chain, SHA256_SIZE);
	if (log->sealing.file.fd >= 0)
		ret_position->key = log->sealing.file.key;
}

int audit_log_continue(struct audit_log *log, const struct audit_log_position *position)
{
	struct sealing *sealing = &log->sealing;

	log->pending.size = log->written = 0;
	log->persisted.sequence = log->segment.sequence = position->sequence;
	memcpy(log->persisted.chain, position->chain, SHA256_SIZE);
	memcpy(log->segment.chain, position->chain, SHA256_SIZE);
	if (sealing->file.fd < 0 && position->key.number > 0 &&
	    seal_file_create(log->segment.directory_fd, &position->key, &sealing->file) == 0)
		sealing->number = position->key.number - 1;
	clock_format(log->options.clock(CLOCK_REALTIME), log->last_time);
	return compose_takeover(log, &log->pending);
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
	segment_close(&log->segment);
	if (log->hash)
		sha256_free(log->hash);
	buffer_free(&log->pending);
	buffer_free(&log->scratch);
	free(log->directory);
	free(log);
}
DEFINE_CLEANUP(struct audit_log *, log_free, log_freep)

/* The last writer crashed: what it had not written is missing, and nobody can tell how much. */
static int compose_crash(struct audit_log *log)
{
	_cleanup_(log_json_decrefp) json_t *record = NULL;

	clock_format(log->options.clock(CLOCK_REALTIME), log->last_time);
	record = gap_record(log, json_pack("{s:s, s:n, s:I}", "of", "crash", "missing",
					   "torn_bytes", (json_int_t)log->segment.repaired));
	return record ? compose_record(log, &log->pending, record) : -ENOMEM;
}

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

int audit_log_open(const char *directory, const struct audit_log_options *options,
		   struct audit_log **ret_log, uint64_t *ret_repaired, struct failure *failure)
{
	static const struct audit_log_options defaults = AUDIT_LOG_DEFAULTS;
	_cleanup_(log_freep) struct audit_log *log = calloc(1, sizeof(*log));
	int r;

	if (!log)
		return -ENOMEM;
	log->segment = (struct segment)SEGMENT_INIT;
	log->sealing.file = (struct seal_file)SEAL_FILE_INIT;
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
	log->segments_changed = true;
	log->segments_time = log->options.clock(CLOCK_BOOTTIME);
	(void)storage_remove(log->segment.directory_fd, COMPRESS_NAME);
	find_last_seal(log, &log->sealing.number, &log->sealing.sequence);
	load_key(log);
	log->persisted.sequence = log->segment.sequence;
	memcpy(log->persisted.chain, log->segment.chain, SHA256_SIZE);
	if (log->segment.crashed) {
		r = compose_crash(log);
		if (r < 0)
			return r;
	}
	*ret_repaired = log->segment.repaired;
	*ret_log = TAKE_PTR(log);
	return 0;
}

void audit_log_close(struct audit_log *log)
{
	if (log->compress.job) {
		compress_wait(&log->compress);
		adopt_compressed(log);
	}
	if (audit_log_flush(log, true) == 0 && seal(log) == 0)
		(void)segment_stop(&log->segment);
	log_free(log);
}
