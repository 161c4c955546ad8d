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
#define EVENTS_AT_A_TIME 1024u
#define EVENTS_ALL	 (1u << 18)

/* Reads what the rings hold now, `most` events of it. */
void events_drain(struct daemon *daemon, unsigned int most);

/* Records what is missing of an execution's events up to the one with this number. */
void events_settle(struct execution *e, uint64_t last);
/* The same for all; call when no more will come. */
void events_finish(struct execution *e);

#endif
