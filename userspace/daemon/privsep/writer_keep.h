/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer that is there: begun, heard, and replaced by another one when it dies, hangs, or has
 * another directory.
 */
#ifndef CORDON_DAEMON_WRITER_KEEP_H
#define CORDON_DAEMON_WRITER_KEEP_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/failure.h"

struct writer;

/* Begins one. Its answer comes later. */
int writer_keep_start(struct writer *writer, struct failure *failure);
/* Says what is wanted to one for what the log's directory is now. */
void writer_keep_say(struct writer *writer);
/* There is none for what the log's directory is now: one is had when something is said. */
bool writer_keep_is_away(struct writer *writer);
/* It died, or has been silent for too long. */
void writer_keep_lost(struct writer *writer, int error);

/* Hears it once more, or for so long. */
void writer_keep_hear(struct writer *writer, uint64_t nsec);
/* Until that is answered, or cannot be. */
void writer_keep_await(struct writer *writer, uint32_t request, uint64_t msec);

/* The event `late`. `context`: the writer. */
void writer_keep_on_late(evutil_socket_t fd, short what, void *context);

#endif
