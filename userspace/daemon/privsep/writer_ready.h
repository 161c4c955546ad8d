/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits until it is known whether a log can be written, if it has no writer at the moment, or its
 * last reply was an error.
 */
#ifndef CORDON_DAEMON_WRITER_READY_H
#define CORDON_DAEMON_WRITER_READY_H

#include <event2/event.h>

struct writer;

/* Callback of the event `look`. `context`: the writer. */
void writer_ready_on_look(evutil_socket_t fd, short what, void *context);

#endif
