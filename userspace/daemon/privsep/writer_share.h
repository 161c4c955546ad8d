/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the bytes that one source of records, such as an execution, has in a writer's queue,
 * without a search of the queue. It counts the bytes that the source added since a mark, and before
 * that since the previous mark. A position is a number of bytes of all records ever queued. So the
 * records before the mark are confirmed when the queue begins after it.
 */
#ifndef CORDON_DAEMON_WRITER_SHARE_H
#define CORDON_DAEMON_WRITER_SHARE_H

#include <stddef.h>
#include <stdint.h>

/* Initialize it with zeros. */
struct writer_share {
	uint64_t mark;	/* position */
	uint64_t end;	/* position after the last record that it added */
	size_t earlier; /* bytes added between the previous mark and this one */
	size_t since;	/* bytes added after this mark */
};

/*
 * Returns an upper bound of the source's bytes in the queue. `confirmed`: the position where the
 * queue of `size` bytes begins.
 */
size_t writer_share_waiting(struct writer_share *share, uint64_t confirmed, size_t size);

/* Counts `size` bytes that were added and end at position `end`. */
void writer_share_add(struct writer_share *share, uint64_t end, size_t size);

#endif
