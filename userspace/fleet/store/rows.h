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

/* A message that waits for records before its own. */
struct rows_waiting {
	int64_t id;
	uint64_t first, last;
	uint64_t since; /* wall clock, ns */
	char *data;	/* caller frees */
	size_t size;
};

/* What a record that waits counts as, beside its line, of what its host may have waiting. */
#define ROWS_PARKED_RECORD 256u

/* How many logs the host has here if that one is not among them, else 0. */
int rows_other_logs(struct rows *rows, const char *host, const char *log, uint64_t *ret_count,
		    struct failure *failure);
/* Finds or adds. */
int rows_log(struct rows *rows, const char *host, const char *log, uint64_t now,
	     struct rows_log *ret_log, struct failure *failure);

/* There is such a host, of which nothing may be taken in yet. */
int rows_host(struct rows *rows, const char *host, uint64_t now, struct failure *failure);
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

/* Bytes of the host's records that no chain covers: early ones, and those that wait. */
int rows_parked(struct rows *rows, const struct rows_log *log, uint64_t *ret_bytes,
		struct failure *failure);
/* Bytes of the host's copies and policies; and `bytes` more of this log. */
int rows_bytes(struct rows *rows, const struct rows_log *log, uint64_t *ret_bytes,
	       struct failure *failure);
int rows_add_bytes(struct rows *rows, const struct rows_log *log, uint64_t bytes,
		   struct failure *failure);
/*
 * Has a message wait: all of `waiting` but its id is given, its data borrowed. *ret_id 0: it waits
 * already.
 */
int rows_wait(struct rows *rows, const struct rows_log *log, const struct rows_waiting *waiting,
	      int64_t *ret_id, struct failure *failure);
/* A record of it: `offset`, `size`: where in its data. One that has a row keeps it. */
int rows_add_waiting(struct rows *rows, const struct rows_log *log, const struct row *row,
		     int64_t id, uint64_t offset, size_t size, struct failure *failure);
/* What waits and begins with `next` or before it. -ENOENT: nothing. */
int rows_due(struct rows *rows, const struct rows_log *log, uint64_t next,
	     struct rows_waiting *ret_waiting, struct failure *failure);
/* It waits no more; those of its records go that no chain has come to cover. */
int rows_waited(struct rows *rows, const struct rows_log *log, const struct rows_waiting *waiting,
		struct failure *failure);
/*
 * The first record behind the log's last covered one that waits, and since when the message of it
 * does. -ENOENT: none.
 */
int rows_first_waiting(struct rows *rows, const struct rows_log *log, uint64_t *ret_first,
		       uint64_t *ret_since, struct failure *failure);

/*
 * A record of what waits that says that all up to `last` was deleted; the chain value of `last` as
 * text.
 */
int rows_retention(struct rows *rows, const struct rows_log *log, uint64_t last, const char *chain,
		   struct failure *failure);
/*
 * Is what waits the rest of a log behind such a deletion, of records that lack here? Its chain
 * value, and since when it waits. -ENOENT: no.
 */
int rows_anchor(struct rows *rows, const struct rows_log *log, uint64_t *ret_last,
		uint64_t *ret_since, char ret_chain[65]);
/* Calls `visit` for each log that such a record waits for. It may not change the database. */
int rows_anchored(struct rows *rows, int (*visit)(void *data, const char *host, const char *log),
		  void *data, struct failure *failure);

/* The records `first` to `last` are given up. Moves contiguous behind them. */
int rows_give_up(struct rows *rows, struct rows_log *log, uint64_t first, uint64_t last,
		 uint64_t now, const char *reason, struct failure *failure);
/* 1: that record is among those that were given up; 0: no. */
int rows_is_given_up(struct rows *rows, const struct rows_log *log, uint64_t sequence,
		     struct failure *failure);

/* A copy that cannot be opened, or that can be again: 1 if it could not. */
int rows_trouble(struct rows *rows, const char *host, const char *log, uint64_t now,
		 const char *reason, struct failure *failure);
int rows_no_trouble(struct rows *rows, const char *host, const char *log, struct failure *failure);

/* Something was kept apart. */
int rows_apart(struct rows *rows, const char *host, const char *log, uint64_t now,
	       const char *reason, const char *file, uint64_t bytes, struct failure *failure);
/* Of a host: bytes and files that are kept apart. */
int rows_apart_bytes(struct rows *rows, const char *host, uint64_t *ret_bytes, uint64_t *ret_files,
		     struct failure *failure);
/* A message of that host was dropped, since it is over its quotas. */
int rows_excess(struct rows *rows, const char *host, const char *reason, struct failure *failure);

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
