/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the process of a log's writer. */
#ifndef CORDON_DAEMON_WRITER_CHILD_H
#define CORDON_DAEMON_WRITER_CHILD_H

#include <event2/event.h>
#include <stddef.h>

struct writer;

/*
 * Kills and reaps the process, whatever its state is, and describes its end in `why`. The daemon
 * keeps the unconfirmed records, and the request in progress becomes pending again.
 */
void writer_child_put_down(struct writer *writer, char *why, size_t size);

/* Frees *event, which may be NULL, and sets it to NULL. */
void writer_child_drop_event(struct event **event);

#endif
