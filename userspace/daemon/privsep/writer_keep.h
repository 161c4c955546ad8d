/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a log's writer, receives its replies, and replaces it when it dies, hangs, or has another
 * directory than the log's.
 */
#ifndef CORDON_DAEMON_WRITER_KEEP_H
#define CORDON_DAEMON_WRITER_KEEP_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/failure.h"

struct writer;

/* Starts a writer. Its reply to WRITER_HELLO arrives later. Returns 0, or -errno. */
int writer_keep_start(struct writer *writer, struct failure *failure);
/* Sends the pending requests to a writer for the log's current directory. Starts one if needed. */
void writer_keep_say(struct writer *writer);
/* Returns true if no writer has the log's current directory. The next request starts one. */
bool writer_keep_is_away(struct writer *writer);
/* Handles the loss of a writer that died or did not reply in time. `error`: for its callers. */
void writer_keep_lost(struct writer *writer, int error);

/* Waits for one reply, at most `nsec`, and handles it. */
void writer_keep_hear(struct writer *writer, uint64_t nsec);
/* Waits until the request has a reply or fails, at most `msec`. */
void writer_keep_await(struct writer *writer, uint32_t request, uint64_t msec);

/* Callback of the event `late`. `context`: the writer. */
void writer_keep_on_late(evutil_socket_t fd, short what, void *context);

#endif
