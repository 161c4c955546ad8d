/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database DIR/fleet.sqlite: columns of all records, counts by rule, policy, operation and path
 * template, early and waiting records, and the state of each host. The logs are authoritative: at
 * start the store adds rows for logged records without rows.
 */
#ifndef CORDON_FLEET_ROWS_H
#define CORDON_FLEET_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "fleet/store/presence.h"
#include "fleet/store/row.h"

#define ROWS_NAME "fleet.sqlite"

struct rows;

/*
 * Opens the database. `write`: creates it if it does not exist; one process at a time. Returns 0,
 * -ENOENT if it does not exist, -EBADMSG if it is another database or version, -EBUSY if another
 * store writes to it, or -EIO.
 */
int rows_open(const char *directory, bool write, struct rows **ret_rows, struct failure *failure);
void rows_close(struct rows *rows);
DEFINE_CLEANUP(struct rows *, rows_close, rows_closep)

/* For queries, and for modules with own statements. */
sqlite3 *rows_database(struct rows *rows);
/* Stops counting records here, because ClickHouse counts them. Returns 0, -EIO or -ENOSPC. */
int rows_count_elsewhere(struct rows *rows, struct failure *failure);

/*
 * All functions below return 0 unless noted, or -EIO or -ENOSPC with *failure set. Changes are on
 * disk only after rows_commit().
 */
int rows_begin(struct rows *rows, struct failure *failure);
int rows_commit(struct rows *rows, struct failure *failure);
void rows_rollback(struct rows *rows);

/* A log with the numbers that identify it and its host in rows. */
struct rows_log {
	int64_t host, log;
	uint64_t first_heard; /* wall clock, ns */
	uint64_t contiguous;  /* all records up to this one have rows */
	/* position of the last of these; segment 0: unknown */
	uint64_t segment, offset, size;
};

/* A message that waits for earlier records. */
struct rows_waiting {
	int64_t id;
	uint64_t first, last;
	uint64_t since; /* wall clock, ns */
	char *data;	/* the caller frees it */
	size_t size;
};

/* Bytes that each waiting record counts towards its host's quota, in addition to its line. */
#define ROWS_PARKED_RECORD 256u

/* Returns in *ret_count how many logs the host has if this one is new, otherwise 0. */
int rows_other_logs(struct rows *rows, const char *host, const char *log, uint64_t *ret_count,
		    struct failure *failure);
/* Finds the log's row or adds it. */
int rows_log(struct rows *rows, const char *host, const char *log, uint64_t now,
	     struct rows_log *ret_log, struct failure *failure);

/* Adds a host without any records. */
int rows_host(struct rows *rows, const char *host, uint64_t now, struct failure *failure);
/* Updates when the host was heard. `newest`: latest timestamp in its message, ns; 0: none. */
int rows_heard(struct rows *rows, const struct rows_log *log, uint64_t now, uint64_t newest,
	       struct failure *failure);
/* Stores the name that the host reports. */
int rows_name(struct rows *rows, const struct rows_log *log, const char *name,
	      struct failure *failure);

/*
 * Adds a record of the log's file, at `offset` in the segment that begins with the number
 * `segment`, and advances `contiguous`. Replaces a row of the queue "first". *ret_early: that
 * queue's line if it differs, otherwise NULL; the caller frees it.
 */
int rows_add(struct rows *rows, struct rows_log *log, const struct row *row, uint64_t segment,
	     uint64_t offset, const char *line, size_t size, char **ret_early,
	     struct failure *failure);
/* Adds a row again that was deleted after rows_add(), with its position in the file. */
int rows_restore(struct rows *rows, const struct rows_log *log, const struct row *row,
		 uint64_t segment, uint64_t offset, size_t size, struct failure *failure);
/* Marks the log's rows after `sequence` as unsent. */
int rows_send_again(struct rows *rows, const struct rows_log *log, uint64_t sequence,
		    struct failure *failure);
/* Stores when the log grew last. */
int rows_grew(struct rows *rows, const struct rows_log *log, uint64_t now, struct failure *failure);

/* Adds a record of the queue "first" that the log's file does not have yet. */
int rows_add_early(struct rows *rows, const struct rows_log *log, const struct row *row,
		   const char *line, size_t size, struct failure *failure);

/*
 * Returns in *ret_bytes the size of the host's records without chain cover: early and waiting ones.
 */
int rows_parked(struct rows *rows, const struct rows_log *log, uint64_t *ret_bytes,
		struct failure *failure);
/*
 * rows_bytes() returns the size of the host's copies and policies; rows_add_bytes() adds to a
 * log's.
 */
int rows_bytes(struct rows *rows, const struct rows_log *log, uint64_t *ret_bytes,
	       struct failure *failure);
int rows_add_bytes(struct rows *rows, const struct rows_log *log, uint64_t bytes,
		   struct failure *failure);
/*
 * Stores a waiting message with all members of `waiting` except the ID. The data remains the
 * caller's. *ret_id is 0 if the message is already stored.
 */
int rows_wait(struct rows *rows, const struct rows_log *log, const struct rows_waiting *waiting,
	      int64_t *ret_id, struct failure *failure);
/*
 * Adds the row of a waiting message's record. `offset` and `size` are its position in the data. An
 * existing row is kept.
 */
int rows_add_waiting(struct rows *rows, const struct rows_log *log, const struct row *row,
		     int64_t id, uint64_t offset, size_t size, struct failure *failure);
/* Returns the first waiting message that begins at or before `next`, or -ENOENT. */
int rows_due(struct rows *rows, const struct rows_log *log, uint64_t next,
	     struct rows_waiting *ret_waiting, struct failure *failure);
/* Deletes a waiting message, and the rows of its records without chain cover. */
int rows_waited(struct rows *rows, const struct rows_log *log, const struct rows_waiting *waiting,
		struct failure *failure);
/*
 * Returns the first waiting record after the last covered one, and since when its message waits.
 * Returns -ENOENT if none waits.
 */
int rows_first_waiting(struct rows *rows, const struct rows_log *log, uint64_t *ret_first,
		       uint64_t *ret_since, struct failure *failure);

/*
 * Stores a retention record that is waiting: all records up to `last` were deleted. `chain`: chain
 * value of `last`, as text.
 */
int rows_retention(struct rows *rows, const struct rows_log *log, uint64_t last, const char *chain,
		   struct failure *failure);
/*
 * Finds a stored deletion that ends directly before a waiting message, after the last covered
 * record. Returns its last record, chain value, and since when the message waits, or -ENOENT.
 */
int rows_anchor(struct rows *rows, const struct rows_log *log, uint64_t *ret_last,
		uint64_t *ret_since, char ret_chain[65]);
/* Calls `visit` for each log with such a deletion. `visit` must not change the database. */
int rows_anchored(struct rows *rows, int (*visit)(void *data, const char *host, const char *log),
		  void *data, struct failure *failure);

/* Gives up the records `first` to `last`, and advances `contiguous` to `last`. */
int rows_give_up(struct rows *rows, struct rows_log *log, uint64_t first, uint64_t last,
		 uint64_t now, const char *reason, struct failure *failure);
/* Returns 1 if the record was given up, otherwise 0. */
int rows_is_given_up(struct rows *rows, const struct rows_log *log, uint64_t sequence,
		     struct failure *failure);

/*
 * Records that a copy cannot be opened, or deletes that; rows_no_trouble() returns 1 if it was
 * recorded.
 */
int rows_trouble(struct rows *rows, const char *host, const char *log, uint64_t now,
		 const char *reason, struct failure *failure);
int rows_no_trouble(struct rows *rows, const char *host, const char *log, struct failure *failure);

/* Records a quarantined delivery. */
int rows_apart(struct rows *rows, const char *host, const char *log, uint64_t now,
	       const char *reason, const char *file, uint64_t bytes, struct failure *failure);
/* Returns the bytes and number of a host's quarantined deliveries. */
int rows_apart_bytes(struct rows *rows, const char *host, uint64_t *ret_bytes, uint64_t *ret_files,
		     struct failure *failure);
/* Counts a message that was dropped because its host is over all quotas. */
int rows_excess(struct rows *rows, const char *host, const char *reason, struct failure *failure);

/* Stores a presence message; replaces the host's previous one. */
int rows_presence(struct rows *rows, const struct presence *presence, struct failure *failure);
/*
 * Returns a host with an overdue message that was sent between `after` and `before` and not checked
 * since, and marks it as checked. Returns -ENOENT if there is none.
 */
int rows_overdue(struct rows *rows, uint64_t after, uint64_t before,
		 char ret_host[DELIVERY_ID_SIZE], struct failure *failure);
/* Records that the server has no connection of the host. */
int rows_closed(struct rows *rows, const char *host, uint64_t now, struct failure *failure);

#endif
