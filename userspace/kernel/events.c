/* SPDX-License-Identifier: Apache-2.0 */
/* Both rings behind one descriptor. */
#include <bpf/bpf.h>

#include "kernel/handle.h"
#include "kernel/mappings.h"

static int hand_over(void *context, void *data, size_t size)
{
	struct enforcement *e = context;

	e->handler(data, size, e->handler_context);
	/* Negative ends ring_buffer__consume(), behind this event. */
	return --e->handed_over_at_most == 0 ? -EAGAIN : 0;
}

int enforcement_on_event(struct enforcement *e, enforcement_event_handler handler, void *context)
{
	struct ring_buffer *rings;

	if (e->rings)
		return -EBUSY;
	rings = ring_buffer__new(e->critical_fd, hand_over, e, NULL);
	if (!rings)
		return -errno;
	if (ring_buffer__add(rings, e->activity_fd, hand_over, e) < 0) {
		int error = errno;

		ring_buffer__free(rings);
		return -error;
	}
	mappings_keep_from_children();
	e->rings = rings;
	e->handler = handler;
	e->handler_context = context;
	return 0;
}

int enforcement_event_fd(const struct enforcement *e)
{
	return e->rings ? ring_buffer__epoll_fd(e->rings) : -ENOTCONN;
}

int enforcement_drain(struct enforcement *e, unsigned int most)
{
	int r;

	if (!e->rings)
		return -ENOTCONN;
	e->handed_over_at_most = most;
	r = ring_buffer__consume(e->rings);
	return r == -EAGAIN ? (int)most : r;
}
