/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of a log's writer share: log.c, log_lines.c, log_seal.c and log_closed.c, and
 * nobody else.
 */
#ifndef CORDON_AUDIT_LOG_PARTS_H
#define CORDON_AUDIT_LOG_PARTS_H

#include "audit/text/buffer.h"
#include "audit/storage/compress.h"
#include "audit/write/log.h"
#include "audit/seal/seal.h"
#include "audit/storage/segment.h"

DEFINE_CLEANUP(json_t *, json_decref, log_json_decrefp)

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
	struct seal_file file;	/* fd -1: nothing is sealed */
	struct seal_file next;	/* of another verification key, to be used instead; fd -1: none */
	struct seal_claim last; /* the last seal; number 0: none */
	uint64_t sequence;	/* of its record */
	uint64_t time;		/* when that was, boot clock */
	bool unfinished;	/* a seal is pending, or written and its key not yet erased */
};

struct audit_log {
	char *directory;
	struct sealing sealing;
	struct compress compress;
	bool segments_changed;	/* there may be some to compress, or to delete */
	uint64_t segments_time; /* when they were last looked at, boot clock */
	struct audit_log_shipped shipped;
	bool held;	      /* segments are kept for a shipper beyond the settings */
	int64_t clock_offset; /* wall clock minus boot clock, when last looked at */
	struct audit_log_options options;
	char id[UUID_TEXT_SIZE]; /* of the log; empty: it has none */
	bool identity_due;	 /* the next record goes behind one that says whose log it is */
	uint64_t segment_time;	 /* when the first record of the segment was written */
	struct segment segment;	 /* sequence and chain in it: of the last line composed */
	struct sha256 *hash;
	struct buffer pending; /* whole lines */
	size_t written;	       /* bytes of `pending` that are in the file */
	struct mark persisted; /* the last line before `pending` */
	struct buffer scratch; /* one record's JSON */
	int error;	       /* of the last write, until one succeeds */
	struct losses lost;
	uint64_t appended;		 /* bytes, since it was opened */
	uint64_t free;			 /* bytes of the file system; UINT64_MAX: unknown */
	char last_time[CLOCK_TEXT_SIZE]; /* of the last record, lost ones included */
};

static inline void log_copy_time(char to[CLOCK_TEXT_SIZE], const char *from)
{
	snprintf(to, CLOCK_TEXT_SIZE, "%s", from);
}

/* Writes what is pending; a part of it may stay. Returns what the file system said. */
int log_write_pending(struct audit_log *log);

/* --- log_lines.c: each moves the chain on. -ENOMEM; -EMSGSIZE: longer than a line may be; -EIO -------------- */

/* Adds a line to `to`. `members`: the record's JSON without its outer braces. */
int log_line_compose(struct audit_log *log, struct buffer *to, const char *members, size_t size);
int log_line_record(struct audit_log *log, struct buffer *to, json_t *record);
/* Says how many records could not be written. */
int log_line_loss(struct audit_log *log);
/* First behind a file that went away: what that one ended with. */
int log_line_takeover(struct audit_log *log, struct buffer *to);
/* The last writer crashed: what it had not written is missing, and nobody can tell how much. */
int log_line_crash(struct audit_log *log);
/* Composes again, for the chain at hand, the pending lines that are not wholly written. */
int log_lines_recompose(struct audit_log *log, struct buffer *to, size_t start);

/* --- log_identity.c --------------------------------------------------------------------------------------- */

/*
 * Takes up the id that the log has, or gives it one. Is what it says of its host true?
 * *ret_changed: no.
 */
int log_identity_find(struct audit_log *log, bool *ret_changed);
/* Adds the record that is due at the head of a segment, if it is. */
int log_identity_add(struct audit_log *log, struct buffer *to);

/* --- log_seal.c ------------------------------------------------------------------------------------------- */

/* What the segment that was just opened says of the last seal. */
void log_seal_find_last(struct audit_log *log);
/*
 * Takes up keys, where there are any. A crash, or a failure, may have come between a seal and
 * erasing its key.
 */
void log_seal_load_keys(struct audit_log *log);
/* Is there something to seal, or a key to be replaced? */
bool log_seal_is_wanted(const struct audit_log *log);
/* Is it time to? `now`: boot clock. */
bool log_seal_is_due(const struct audit_log *log, uint64_t now);
/* Seals, with nothing pending: what is sealed is on disk. */
int log_seal(struct audit_log *log);
/* A seal is written: it must be on disk before its key goes. */
int log_seal_finish(struct audit_log *log);
/* In a directory made anew there is no key: the one at hand goes there. */
void log_seal_keep(struct audit_log *log);

/* --- log_closed.c: closed segments ------------------------------------------------------------------------ */

/*
 * Looks at them when one was added, and every hour for those that got too old. `now`: boot clock.
 */
void log_closed_keep_up(struct audit_log *log, uint64_t now);
/* A compressed segment takes the place of the plain one, once the log says what is in it. */
void log_closed_adopt(struct audit_log *log);

#endif
