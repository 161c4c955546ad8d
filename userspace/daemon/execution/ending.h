/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an execution ends, whatever the cause: no fork or exec any more, all its processes killed,
 * events read to the last, end record and report written, remains removed. In steps that never
 * hold up the event loop.
 */
#ifndef CORDON_DAEMON_ENDING_H
#define CORDON_DAEMON_ENDING_H

#include "daemon/execution/execution.h"

/*
 * The callback of an execution's timer. What it means depends on the state: nobody asked for the
 * label in time; the deadline; look again whether all is dead; the owner did not tell the status;
 * go on removing.
 */
void ending_timer(evutil_socket_t fd, short what, void *execution);

/* Begins the end. The first cause stays; later calls change nothing. */
void ending_begin(struct execution *e, enum audit_end_cause cause);

/*
 * The owner told that its command has ended (or that nothing ran): begins or goes on with the end.
 */
void ending_told(struct execution *e, const struct ended_request *ended);
void ending_aborted(struct execution *e, const struct abort_request *aborted);

/* The owner's connection has closed. */
void ending_owner_gone(struct execution *e);

/* The first process of an adopted execution has ended; e->end says how, if that is known. */
void ending_leader_gone(struct execution *e);

/* An event says that its last task is gone: looks now rather than at the next tick. */
void ending_hurry(struct execution *e);

/* Ends it if it has been denied more often than its policy permits. */
void ending_check_denials(struct execution *e);

#endif
