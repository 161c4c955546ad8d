/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a writer's queue one source of records has filled, such as an execution, without
 * looking at the queue: what the source added since a mark, and what it added before that and since
 * the mark before. Positions are bytes of all records that were ever queued, so that those behind
 * the mark are confirmed when the queue begins after it.
 */
#ifndef CORDON_DAEMON_WRITER_SHARE_H
#define CORDON_DAEMON_WRITER_SHARE_H

#include <stddef.h>
#include <stdint.h>

/* All zero to begin with. */
struct writer_share {
	uint64_t mark;	/* position */
	uint64_t end;	/* position behind the last that it added */
	size_t earlier; /* bytes added between the mark before and this one */
	size_t since;	/* and after this one */
};

/*
 * Bytes that may wait still, at least as many as do. `confirmed`: where the queue of `size` bytes
 * begins.
 */
size_t writer_share_waiting(struct writer_share *share, uint64_t confirmed, size_t size);

/* `size` bytes were added, which end at `end`. */
void writer_share_add(struct writer_share *share, uint64_t end, size_t size);

#endif
