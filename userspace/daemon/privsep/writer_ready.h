/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for the word of a log's writer whether the log can be written, while there is none, or
 * its last word was no.
 */
#ifndef CORDON_DAEMON_WRITER_READY_H
#define CORDON_DAEMON_WRITER_READY_H

#include <event2/event.h>

struct writer;

/* The event `look`. `context`: the writer. */
void writer_ready_on_look(evutil_socket_t fd, short what, void *context);

#endif
