/* SPDX-License-Identifier: Apache-2.0 */
/* The process of a log's writer, ended. */
#ifndef CORDON_DAEMON_WRITER_CHILD_H
#define CORDON_DAEMON_WRITER_CHILD_H

#include <event2/event.h>
#include <stddef.h>

struct writer;

/*
 * Whatever state it is in, it is gone then; what it has not confirmed is still here, and is asked
 * about again.
 */
void writer_child_put_down(struct writer *writer, char *why, size_t size);

/* Frees *event, which may be NULL, and is then. */
void writer_child_drop_event(struct event **event);

#endif
