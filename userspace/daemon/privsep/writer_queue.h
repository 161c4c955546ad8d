/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of records that a log's writer has not confirmed. It limits its size, in total and per
 * source, and counts the records that are lost for lack of room.
 */
#ifndef CORDON_DAEMON_WRITER_QUEUE_H
#define CORDON_DAEMON_WRITER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct writer;
struct writer_share;

/* Adds a record. Returns as writer_append(). */
int writer_queue_add(struct writer *writer, struct writer_share *share, const char *record,
		     size_t size);
bool writer_queue_is_full(const struct writer *writer);
/* Returns the end of the next batch. The writer has all bytes before `sent`. */
size_t writer_queue_batch_end(const struct writer *writer);
/* Removes the records that the last flush covered, because they are written. */
void writer_queue_confirm(struct writer *writer);

#endif
