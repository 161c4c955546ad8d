/* SPDX-License-Identifier: Apache-2.0 */
/* From the kernel's event rings into the logs. */
#ifndef CORDON_DAEMON_EVENTS_H
#define CORDON_DAEMON_EVENTS_H

#include "daemon/execution/execution.h"

/* An enforcement_event_handler; `context` is the struct daemon. */
void events_handle(const void *data, size_t size, void *context);

/* The start is on record: what came before it may follow. */
void events_release_early(struct execution *e);

/* So many at a time leave room for requests and deadlines; and more than the rings can hold. */
#define EVENTS_AT_A_TIME 512u
#define EVENTS_ALL	 (1u << 18)
/* Records that are made of them in one turn of the loop. */
#define RECORDS_AT_A_TIME 64u
/* When what waits for its turn is looked at again while the log's writer has enough of it. */
#define BACKLOG_MSEC 10u

/*
 * Reads what the rings hold now, `most` events of it, and makes records. Returns whether that was
 * all that tasks had told before. A record costs more than the reading: but for EVENTS_ALL there
 * are some dozens at a time, of each execution in turn, and what remains of any waits (backlog.h),
 * so that nobody's stand in line behind a flood of somebody else's.
 */
bool events_drain(struct daemon *daemon, unsigned int most);

/*
 * The execution has another policy, and no verdict is given by the previous one any more. That is
 * put back once all of them are on record, in turns of the loop to come.
 */
void events_await_previous(struct execution *e);

/*
 * What is on record of it is known: events that were kept until then become records, and what is
 * missing then of those that an earlier daemon left is a gap.
 */
void events_release_kept(struct execution *e);

/* Makes records of all that was read: nobody will look at it later. */
void events_leave(struct daemon *daemon);

/*
 * Has each event that has a number, up to *ret_last, reached a ring, or been lost and counted? A
 * program gives the number first: until then the event is no gap. Ask before events_drain(), and
 * settle what was asked for: the kernel's word that nobody is left may come in between.
 */
bool events_are_sent(const struct execution *e, uint64_t *ret_last);

/*
 * For who needs all that an execution's tasks have told: `drained` is what events_drain() returned
 * for the next EVENTS_AT_A_TIME. Returns whether it has been read; if not, after another turn of
 * the loop. Others who keep telling put it off until as much was read as the rings can hold.
 */
bool events_caught_up(struct execution *e, bool drained);

/* How long until then. */
struct timeval events_pause(const struct execution *e);

/* Records what is missing of an execution's events up to the one with this number. */
void events_settle(struct execution *e, uint64_t last);

#endif
