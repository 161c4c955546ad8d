/* SPDX-License-Identifier: Apache-2.0 */
/* Both event rings with one descriptor for polling. */
#include <bpf/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/handle.h"
#include "kernel/mappings.h"

/*
 * A ring begins with two pages, each with a position at its start (struct bpf_ringbuf,
 * kernel/bpf/ringbuf.c). The positions are the reader's, and the end of the room that programs have
 * reserved.
 */
#define POSITION_PAGES 2u

static size_t page_size(void)
{
	return (size_t)getpagesize();
}

static unsigned long position(const char *positions, size_t page)
{
	const void *at = positions + page * page_size();

	return __atomic_load_n((const unsigned long *)at, __ATOMIC_ACQUIRE);
}

static unsigned long read_to(const char *positions)
{
	return position(positions, 0);
}

static unsigned long taken_to(const char *positions)
{
	return position(positions, 1);
}

static int hand_over(void *context, void *data, size_t size)
{
	struct enforcement *e = context;

	e->handler(data, size, e->handler_context);
	/* A negative result ends ring_buffer__consume() after this event. */
	return --e->handed_over_at_most == 0 ? -EAGAIN : 0;
}

static int add_ring(struct enforcement *e, int fd, char **ret_positions)
{
	void *at = mmap(NULL, POSITION_PAGES * page_size(), PROT_READ, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	*ret_positions = at;
	if (e->rings)
		return ring_buffer__add(e->rings, fd, hand_over, e);
	e->rings = ring_buffer__new(fd, hand_over, e, NULL);
	return e->rings ? 0 : -errno;
}

void enforcement_close_rings(struct enforcement *e)
{
	ring_buffer__free(TAKE_PTR(e->rings));
	for (size_t i = 0; i < ARRAY_SIZE(e->positions); i++)
		if (e->positions[i])
			munmap(TAKE_PTR(e->positions[i]), POSITION_PAGES * page_size());
}

int enforcement_on_event(struct enforcement *e, enforcement_event_handler handler, void *context)
{
	int r;

	if (e->rings)
		return -EBUSY;
	r = add_ring(e, e->critical_fd, &e->positions[0]);
	if (r == 0)
		r = add_ring(e, e->activity_fd, &e->positions[1]);
	if (r < 0) {
		enforcement_close_rings(e);
		return r;
	}
	mappings_keep_from_children();
	e->handler = handler;
	e->handler_context = context;
	return 0;
}

int enforcement_event_fd(const struct enforcement *e)
{
	return e->rings ? ring_buffer__epoll_fd(e->rings) : -ENOTCONN;
}

int enforcement_drain(struct enforcement *e, unsigned int most, bool *ret_all)
{
	unsigned long taken[ARRAY_SIZE(e->positions)];
	bool all = true;
	int r;

	if (!e->rings)
		return -ENOTCONN;
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		taken[i] = taken_to(e->positions[i]);
	e->handed_over_at_most = most;
	r = ring_buffer__consume(e->rings);
	if (r < 0 && r != -EAGAIN)
		return r;
	/* Positions only grow, and may wrap around. */
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		all = all && (long)(read_to(e->positions[i]) - taken[i]) >= 0;
	*ret_all = all;
	return r == -EAGAIN ? (int)most : r;
}
