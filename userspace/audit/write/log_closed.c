/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of closed segments: they are compressed, and the oldest deleted, both on record. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "audit/storage/ending.h"
#include "audit/write/log_parts.h"
#include "audit/storage/segments.h"
#include "audit/storage/storage.h"
#include "base/hex.h"

/* Of AUDIT_LOG_KEEP_SHARE. */
#define KEEP_SHARE_PART 10u
#define KEEP_SHARE_MAX	(4ull << 30)

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

void log_closed_adopt(struct audit_log *log)
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
	/*
	 * After a failure, as for want of space, another segment closed is the time to try again.
	 */
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

/* How many of the oldest segments are too many, and why. */
struct expired {
	size_t count;
	size_t unbounded;   /* of them, those that not even a shipper is waited for with */
	const char *reason; /* "count", "size" or "age" */
};

static uint64_t keep_bytes(const struct audit_log *log)
{
	const struct audit_log_options *options = &log->options;
	uint64_t least = 2 * options->segment_bytes, total, share;
	struct statvfs space;

	if (options->keep_bytes != AUDIT_LOG_KEEP_SHARE)
		return options->keep_bytes;
	/* 0: never, so that a file system that does not answer costs no record. */
	if (fstatvfs(log->segment.directory_fd, &space) < 0)
		return 0;
	total = (uint64_t)space.f_blocks * space.f_frsize;
	share = total / KEEP_SHARE_PART;
	if (share > KEEP_SHARE_MAX)
		share = KEEP_SHARE_MAX;
	/* On a disk that holds but a few segments, half of it. */
	if (least > total / 2)
		least = total / 2;
	return share > least ? share : least;
}

/* `most`: keep_bytes(). */
static const char *why_expired(const struct audit_log_options *options, uint64_t most, size_t newer,
			       uint64_t bytes, uint64_t age)
{
	if (options->keep_segments > 0 && newer >= options->keep_segments)
		return "count";
	if (most > 0 && bytes > most)
		return "size";
	return options->keep_nsec > 0 && age > options->keep_nsec ? "age" : NULL;
}

static void count_expired(const struct audit_log *log, const struct segments *segments,
			  struct expired *ret)
{
	const struct audit_log_options *options = &log->options;
	uint64_t now = options->clock(CLOCK_REALTIME), bytes = 0, most = keep_bytes(log);

	*ret = (struct expired){};
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
		if (!ret->reason)
			ret->reason = why_expired(options, most, segments->count - i, bytes,
						  now > changed ? now - changed : 0);
		if (ret->reason && ret->count == 0)
			ret->count = i;
		if (bytes > options->keep_unshipped && ret->unbounded == 0)
			ret->unbounded = i;
	}
}

/* Somebody ships this log, and has had its records acknowledged up to *ret_sequence. */
static bool is_shipped(const struct audit_log *log, uint64_t *ret_sequence)
{
	const struct audit_log_shipped *shipped = &log->shipped;

	*ret_sequence = shipped->sequence;
	if (!shipped->known || log->options.keep_unshipped == 0)
		return false;
	return shipped->log[0] ? strcmp(shipped->log, log->id) == 0 : shipped->sequence == 0;
}

/* The last record that can be in a closed segment, whose file need not be read for that. */
static uint64_t last_of(const struct audit_log *log, const struct segments *segments, size_t i)
{
	if (i + 1 < segments->count)
		return segments->entries[i + 1].first - 1;
	return log->segment.first > 0 ? log->segment.first - 1 : log->persisted.sequence;
}

/* Leaves those that a shipper still needs, while they are not too many. */
static void hold_unshipped(struct audit_log *log, const struct segments *segments,
			   struct expired *expired)
{
	size_t needed = 0, count = expired->count;
	uint64_t shipped;

	log->held = false;
	if (count == 0 || !is_shipped(log, &shipped))
		return;
	while (needed < count && last_of(log, segments, needed) <= shipped)
		needed++;
	if (count > expired->unbounded)
		count = expired->unbounded;
	if (count < needed)
		count = needed;
	log->held = count < expired->count;
	expired->count = count;
}

/* Of the records `first` to `last`, which go, those that the shipper was not done with. */
static uint64_t count_unshipped(const struct audit_log *log, uint64_t first, uint64_t last)
{
	uint64_t shipped;

	if (!is_shipped(log, &shipped) || last <= shipped)
		return 0;
	return last - (shipped >= first ? shipped : first - 1);
}

/* Deletes the oldest segments. That is on record before, so that it is no tampering. */
static void delete_expired(struct audit_log *log, const struct segments *segments)
{
	char name[SEGMENTS_NAME_SIZE], path[PATH_MAX], chain[SHA256_TEXT_SIZE];
	const struct segments_entry *last;
	struct expired expired;
	struct ending ending;
	uint64_t unshipped;
	int fd = log->segment.directory_fd;
	json_t *details;

	count_expired(log, segments, &expired);
	hold_unshipped(log, segments, &expired);
	if (expired.count == 0)
		return;
	last = &segments->entries[expired.count - 1];
	segments_name(last->first, last->compressed, name);
	if (snprintf(path, sizeof(path), "%s/%s", log->directory, name) >= (int)sizeof(path) ||
	    ending_of_closed(path, last->compressed, &ending) < 0)
		return;
	hex_encode(ending.chain, SHA256_SIZE, chain);
	unshipped = count_unshipped(log, segments->entries[0].first, ending.sequence);
	details = json_pack("{s:I, s:I, s:s, s:I, s:s, s:o*}", "first",
			    (json_int_t)segments->entries[0].first, "last",
			    (json_int_t)ending.sequence, "chain", chain, "segments",
			    (json_int_t)expired.count, "reason", expired.reason, "unshipped",
			    unshipped > 0 ? json_integer((json_int_t)unshipped) : NULL);
	if (record_at_once(log, "retention", "retention", details) < 0)
		return;
	for (size_t i = 0; i < expired.count; i++) {
		segments_name(segments->entries[i].first, segments->entries[i].compressed, name);
		(void)storage_remove(fd, name);
	}
	(void)storage_sync_directory(fd);
}

void audit_log_note_shipped(struct audit_log *log, const struct audit_log_shipped *shipped)
{
	/* What was kept for it may go now. */
	if (log->held &&
	    (shipped->known != log->shipped.known || shipped->sequence != log->shipped.sequence ||
	     strcmp(shipped->log, log->shipped.log) != 0))
		log->segments_changed = true;
	log->shipped = *shipped;
}

void log_closed_keep_up(struct audit_log *log, uint64_t now)
{
	struct segments segments;

	if (log->compress.job) {
		if (compress_finish(&log->compress))
			log_closed_adopt(log);
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
