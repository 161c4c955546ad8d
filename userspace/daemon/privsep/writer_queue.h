/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a log that its writer has not confirmed: what fits, whose they are, and what is
 * lost for want of room.
 */
#ifndef CORDON_DAEMON_WRITER_QUEUE_H
#define CORDON_DAEMON_WRITER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct writer;
struct writer_share;

/* Adds a record; what writer_append() says. */
int writer_queue_add(struct writer *writer, struct writer_share *share, const char *record,
		     size_t size);
bool writer_queue_is_full(const struct writer *writer);
/* Where the next batch ends: the writer has all before `sent`. */
size_t writer_queue_batch_end(const struct writer *writer);
/* What the last question was about is written. */
void writer_queue_confirm(struct writer *writer);

#endif
