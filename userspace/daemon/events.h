/* SPDX-License-Identifier: Apache-2.0 */
/* From the kernel's event rings into the logs. */
#ifndef CORDON_DAEMON_EVENTS_H
#define CORDON_DAEMON_EVENTS_H

#include "daemon/execution.h"

/* An enforcement_event_handler; `context` is the struct daemon. */
void events_handle(const void *data, size_t size, void *context);

/* Reads all that the rings hold now. */
void events_drain(struct daemon *daemon);

/* Records what is missing of an execution's events; call when no more will come. */
void events_finish(struct execution *e);

#endif
