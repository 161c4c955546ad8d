/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the records that a writer has not confirmed, and counts what is lost for want of room. */
#include "daemon/privsep/writer_queue.h"

#include <errno.h>
#include <string.h>

#include "daemon/privsep/writer_share.h"
#include "daemon/privsep/writer_state.h"

/*
 * As much waits here as in the log's own buffer; what comes then is lost while nothing can be
 * written.
 */
#define QUEUE_MAX (1u << 20)
/* While it only is slow. */
#define QUEUE_MAX_SLOW (16u << 20)
/* Of that, what one source of records may have waiting while half of the room is taken. */
#define SHARE 16

static int lose(struct writer *w, int error)
{
	w->unsaid++;
	w->lost_before++;
	return error;
}

static int enqueue(struct writer *w, const char *record, size_t size)
{
	uint32_t length = (uint32_t)size;

	w->queue.failed = false;
	if (!buffer_reserve(&w->queue, sizeof(length) + size))
		return -ENOMEM;
	buffer_add(&w->queue, &length, sizeof(length));
	buffer_add(&w->queue, record, size);
	return 0;
}

static size_t room(const struct writer *w)
{
	return w->failing || !w->settings.base ? QUEUE_MAX : QUEUE_MAX_SLOW;
}

bool writer_queue_is_full(const struct writer *w)
{
	return w->queue.size >= room(w);
}

int writer_queue_add(struct writer *w, struct writer_share *share, const char *record, size_t size)
{
	size_t most;
	int r;

	if (size > WRITER_PAYLOAD_MAX / 2)
		return lose(w, -EMSGSIZE);
	/* What one source can fill alone leaves as much for all others. */
	most = share && writer_share_waiting(share, w->confirmed, w->queue.size) >= room(w) / SHARE
		       ? room(w) / 2
		       : room(w);
	if (w->queue.size >= most)
		return lose(w, w->error < 0 ? w->error : -ENOBUFS);
	r = enqueue(w, record, size);
	if (r < 0)
		return lose(w, r);
	if (share)
		writer_share_add(share, w->confirmed + w->queue.size, size);
	return 0;
}

size_t writer_queue_batch_end(const struct writer *w)
{
	size_t end = w->sent;

	while (end < w->queue.size && end - w->sent < BATCH_SIZE) {
		uint32_t length;

		memcpy(&length, w->queue.data + end, sizeof(length));
		end += sizeof(length) + length;
	}
	return end;
}

void writer_queue_confirm(struct writer *w)
{
	if (w->queue.size > w->covers)
		memmove(w->queue.data, w->queue.data + w->covers, w->queue.size - w->covers);
	w->queue.size -= w->covers;
	w->sent -= w->covers;
	w->confirmed += w->covers;
}
