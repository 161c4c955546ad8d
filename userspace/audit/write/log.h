/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit log: a directory of segments, JSON Lines, each line chained to the one before by
 * SHA-256, so that an edited, dropped, inserted or reordered record is found.
 *
 * A line is the compact JSON of a record whose last member is "chain": the hexadecimal digest of
 * the previous line's chain value (32 raw bytes; zeros before the first line of a log) followed by
 * the line up to that member. Every record carries "seq", counting from 1 in the log.
 */
#ifndef CORDON_AUDIT_LOG_H
#define CORDON_AUDIT_LOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/seal/seal.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/uuid.h"

struct audit_log;

/* keep_bytes: a tenth of the file system, from two segments' worth up to 4 GiB. */
#define AUDIT_LOG_KEEP_SHARE UINT64_MAX

struct audit_log_options {
	/* CLOCK_REALTIME and CLOCK_BOOTTIME in ns; NULL: the system's. */
	uint64_t (*clock)(clockid_t clock);
	const char *shown; /* the directory's name in messages; NULL: as it is given. Not copied */
	/* A segment is closed when it is that large, or its first record that old; 0: never. */
	uint64_t segment_bytes;
	uint64_t segment_nsec;
	/*
	 * With keys (see seal.h): how long records stay without a seal; 0: until the segment is
	 * closed.
	 */
	uint64_t seal_nsec;
	bool compress; /* closed segments */
	/*
	 * Of closed segments, the oldest are deleted beyond so many, so many bytes, or when so old;
	 * 0: never.
	 */
	uint64_t keep_segments;
	uint64_t keep_bytes;
	uint64_t keep_nsec;
	/*
	 * Closed segments with records that a shipper has not had acknowledged stay all the same,
	 * until all of them together have so many bytes; 0: they do not.
	 */
	uint64_t keep_unshipped;
	/*
	 * What identity_format() made, for the record at the head of each segment; NULL: there is
	 * none. Not copied. A segment that says something else is closed when the log is opened.
	 */
	const char *identity;
};

#define AUDIT_LOG_DEFAULTS                                                                         \
	{                                                                                          \
		.segment_bytes = 64u << 20,                                                        \
		.segment_nsec = 86400 * NSEC_PER_SEC,                                              \
		.seal_nsec = 10 * NSEC_PER_SEC,                                                    \
		.compress = true,                                                                  \
	}

/*
 * Opens (and creates, mode 0750, parents not) the log in `directory` for appending; takes a lock,
 * so that one writer has it. A torn last line, left by a crash, is cut off; *ret_repaired says how
 * many bytes. Where the last writer did not stop in order, the first record is a "gap" that says
 * so. `options`: NULL for AUDIT_LOG_DEFAULTS.
 *
 * -EWOULDBLOCK: another writer has it; -EBADMSG: the last whole line is not a record of this
 * log; or what the file system said. `failure` says which and what to do.
 */
int audit_log_open(const char *directory, const struct audit_log_options *options,
		   struct audit_log **ret_log, uint64_t *ret_repaired, struct failure *failure);

/*
 * Appends one record: adds seq and chain. Buffered: audit_log_flush() writes. Takes no reference.
 * -ENOMEM; -EMSGSIZE: longer than a line may be; or, once 1 MiB is buffered, the write error that
 * persists
 * (-ENOSPC, -EROFS, -EIO ...): the record is then counted as lost and a "gap" record is written as
 * soon as
 * writing works again. -EINVAL: it has a seq or chain already.
 */
int audit_log_append(struct audit_log *log, json_t *record);

/*
 * The same for a record that is text already, as event_text_write() makes it: a compact JSON object
 * that begins with its "@timestamp", in ASCII.
 */
int audit_log_append_text(struct audit_log *log, const char *record, size_t size);

/*
 * Writes what is buffered, and syncs if `sync`. Keeps the rest for the next try on error. Where the
 * log's file was removed or moved away, goes on in a new one, whose first record says so. Closes a
 * segment that is large enough.
 */
int audit_log_flush(struct audit_log *log, bool sync);

/*
 * What is due: sealing, closing a segment by its age, compressing and deleting closed ones,
 * recording that the clock was set. Call about once a second while there is a writer. True:
 * something will be due later although nothing is appended.
 */
bool audit_log_tick(struct audit_log *log);

/*
 * Can a record be written now? Probes free space; -ENOSPC, -EROFS, -EIO, -ENOENT (directory gone).
 */
int audit_log_writable(struct audit_log *log);

/* How far the log's file goes, and what is needed to go on elsewhere. */
struct audit_log_position {
	uint64_t sequence; /* of its last record, 0: it has none */
	unsigned char chain[SHA256_SIZE];
	struct seal_key key;	 /* of the next seal; number 0: nothing is sealed */
	char id[UUID_TEXT_SIZE]; /* of the log; empty: it has none */
};

void audit_log_position(const struct audit_log *log, struct audit_log_position *ret_position);

/* How much of a log somebody elsewhere has for good. */
struct audit_log_shipped {
	bool known;		  /* somebody ships it; else the rest says nothing */
	char log[UUID_TEXT_SIZE]; /* whose records; empty: it has begun with none */
	uint64_t sequence;	  /* of the last of them */
};

/* What retention waits for: see keep_unshipped. To be said again whenever it is another. */
void audit_log_note_shipped(struct audit_log *log, const struct audit_log_shipped *shipped);

/* How the log stands, for whoever watches it. */
struct audit_log_figures {
	uint64_t sequence; /* of the last record in its file */
	uint64_t written;  /* bytes, since it was opened */
	/* Bytes of its file system, when audit_log_writable() last looked; UINT64_MAX: unknown. */
	uint64_t free;
	bool sealing;	 /* there is a key */
	uint64_t sealed; /* sequence of the last seal; 0: none */
	/* When that was, boot clock in ns; 0: before the log was opened, or never. */
	uint64_t sealed_at;
};

void audit_log_figures(const struct audit_log *log, struct audit_log_figures *ret_figures);

/*
 * The log, just opened, goes on for one whose writer and directory are gone: its first record says
 * what that one ended with. -ENOMEM.
 */
int audit_log_continue(struct audit_log *log, const struct audit_log_position *position);

/* Counts what was lost before it could be appended. */
void audit_log_lose(struct audit_log *log, uint64_t records, int error);

/* Records lost since the last gap record; 0: none. */
uint64_t audit_log_lost(const struct audit_log *log);

const char *audit_log_directory(const struct audit_log *log);

/* Flushes, unlocks, frees. */
void audit_log_close(struct audit_log *log);
DEFINE_CLEANUP(struct audit_log *, audit_log_close, audit_log_closep)

#endif
