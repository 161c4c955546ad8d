/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DIR/fleet.sqlite: columns of all records, counts by rule, policy, operation and path template,
 * what came too early, and what was heard of which host when. The logs are the truth: what of them
 * is not in here is added when the store begins.
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
 * `write`: creates what is missing; for one process at a time. -ENOENT: there is none to read;
 * -EBADMSG: not such a database, or of another version; -EBUSY: another store writes; -EIO.
 */
int rows_open(const char *directory, bool write, struct rows **ret_rows, struct failure *failure);
void rows_close(struct rows *rows);
DEFINE_CLEANUP(struct rows *, rows_close, rows_closep)

/* For questions, and for what has statements of its own. */
sqlite3 *rows_database(struct rows *rows);
/* Records are counted where their rows go to: not in here as well. -EIO, -ENOSPC. */
int rows_count_elsewhere(struct rows *rows, struct failure *failure);

/*
 * All below: 0, or -EIO, -ENOSPC after which *failure says what; nothing of it is on disk before
 * rows_commit().
 */
int rows_begin(struct rows *rows, struct failure *failure);
int rows_commit(struct rows *rows, struct failure *failure);
void rows_rollback(struct rows *rows);

/* A log of a host, by the numbers that rows name it by. */
struct rows_log {
	int64_t host, log;
	uint64_t first_heard; /* wall clock, ns */
	uint64_t contiguous;  /* all up to this one have rows */
	/* where the last of these stands; segment 0: none has one */
	uint64_t segment, offset, size;
};

/* Finds or adds. */
int rows_log(struct rows *rows, const char *host, const char *log, uint64_t now,
	     struct rows_log *ret_log, struct failure *failure);

/* Something came from that host. `newest`: latest time in it, ns; 0: none. */
int rows_heard(struct rows *rows, const struct rows_log *log, uint64_t now, uint64_t newest,
	       struct failure *failure);
/* How the host calls itself. */
int rows_name(struct rows *rows, const struct rows_log *log, const char *name,
	      struct failure *failure);

/*
 * A record of the log's file: in the segment that begins with seq `segment`, at `offset`. Moves
 * contiguous. A row that the first lane brought is replaced, and *ret_early is what it was made
 * of, if it was another line (caller frees), else NULL.
 */
int rows_add(struct rows *rows, struct rows_log *log, const struct row *row, uint64_t segment,
	     uint64_t offset, const char *line, size_t size, char **ret_early,
	     struct failure *failure);
/* One that rows_add() had taken and that is not here any more, as it stands in its file. */
int rows_restore(struct rows *rows, const struct rows_log *log, const struct row *row,
		 uint64_t segment, uint64_t offset, size_t size, struct failure *failure);
/* Rows of that log behind `sequence` are to be sent once more. */
int rows_send_again(struct rows *rows, const struct rows_log *log, uint64_t sequence,
		    struct failure *failure);
/* The log grew until `now`. */
int rows_grew(struct rows *rows, const struct rows_log *log, uint64_t now, struct failure *failure);

/* A record of the first lane, which is not in the log's file yet. */
int rows_add_early(struct rows *rows, const struct rows_log *log, const struct row *row,
		   const char *line, size_t size, struct failure *failure);

/* Bytes of what waits for what comes before it. */
int rows_waiting_bytes(struct rows *rows, const struct rows_log *log, uint64_t *ret_bytes,
		       struct failure *failure);
/* Has it wait. Twice the same waits once. */
int rows_wait(struct rows *rows, const struct rows_log *log, uint64_t first, uint64_t last,
	      const char *data, size_t size, struct failure *failure);
/* What waits and begins with `next` or before it; caller frees *ret_data. -ENOENT: nothing. */
int rows_due(struct rows *rows, const struct rows_log *log, uint64_t next, int64_t *ret_id,
	     char **ret_data, size_t *ret_size, struct failure *failure);
int rows_waited(struct rows *rows, int64_t id, struct failure *failure);

/*
 * A record of what waits that says that all up to `last` was deleted; the chain value of `last` as
 * text.
 */
int rows_retention(struct rows *rows, const struct rows_log *log, uint64_t last, const char *chain,
		   struct failure *failure);
/* Is what waits the rest of a log behind such a deletion? Its chain value. -ENOENT: no. */
int rows_anchor(struct rows *rows, const struct rows_log *log, uint64_t *ret_last,
		char ret_chain[65]);

/* Something was kept apart. */
int rows_apart(struct rows *rows, const char *host, const char *log, uint64_t now,
	       const char *reason, const char *file, uint64_t bytes, struct failure *failure);
int rows_apart_bytes(struct rows *rows, const char *host, uint64_t *ret_bytes,
		     struct failure *failure);

/* What a host's shipper said, in place of what it said before. */
int rows_presence(struct rows *rows, const struct presence *presence, struct failure *failure);
/*
 * A host whose shipper was last heard of before `before` and not before `after`, and that was not
 * asked for since: it is taken as asked for. -ENOENT: there is no more.
 */
int rows_overdue(struct rows *rows, uint64_t after, uint64_t before,
		 char ret_host[DELIVERY_ID_SIZE], struct failure *failure);
/* The server had no connection of it. */
int rows_closed(struct rows *rows, const char *host, uint64_t now, struct failure *failure);

#endif
