/* SPDX-License-Identifier: Apache-2.0 */
/* io_uring by its system calls: one request at a time. */
#ifndef CORDON_TESTS_REDTEAM_URING_H
#define CORDON_TESTS_REDTEAM_URING_H

#include <linux/io_uring.h>

#include "tests/redteam/attack.h"

/*
 * What the headers of build hosts may not know: IORING_OP_..., and what IORING_OP_URING_CMD does
 * with a socket.
 */
#define RING_COMMAND	46
#define RING_BIND	56
#define RING_LISTEN	57
#define RING_SET_OPTION 3

struct uring {
	int fd;
	void *rings;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
};

/* Returns an errno. */
static inline int uring_open(struct uring *ring, unsigned int flags)
{
	size_t size;

	memset(ring, 0, sizeof(*ring));
	ring->params.flags = flags;
	ring->fd = syscall(SYS_io_uring_setup, 4, &ring->params);
	if (ring->fd < 0)
		return errno;
	size = ring->params.cq_off.cqes + ring->params.cq_entries * sizeof(struct io_uring_cqe);
	if (size < ring->params.sq_off.array + ring->params.sq_entries * sizeof(unsigned int))
		size = ring->params.sq_off.array + ring->params.sq_entries * sizeof(unsigned int);
	ring->rings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
			   IORING_OFF_SQ_RING);
	ring->entries = mmap(NULL, ring->params.sq_entries * sizeof(struct io_uring_sqe),
			     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
			     IORING_OFF_SQES);
	if (ring->rings == MAP_FAILED || ring->entries == MAP_FAILED)
		broken("mapping a ring");
	return 0;
}

static inline unsigned int *ring_word(struct uring *ring, unsigned int offset)
{
	return (unsigned int *)((char *)ring->rings + offset);
}

/* Returns what the request did: negative errno, or its result. */
static inline int uring_request(struct uring *ring, struct io_uring_sqe entry)
{
	unsigned int tail = *ring_word(ring, ring->params.sq_off.tail);
	unsigned int mask = *ring_word(ring, ring->params.sq_off.ring_mask);
	unsigned int head = *ring_word(ring, ring->params.cq_off.head);
	struct io_uring_cqe *done;

	ring->entries[tail & mask] = entry;
	ring_word(ring, ring->params.sq_off.array)[tail & mask] = tail & mask;
	__atomic_store_n(ring_word(ring, ring->params.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	NEED(syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));
	done = (struct io_uring_cqe *)((char *)ring->rings + ring->params.cq_off.cqes);
	done += head & *ring_word(ring, ring->params.cq_off.ring_mask);
	__atomic_store_n(ring_word(ring, ring->params.cq_off.head), head + 1, __ATOMIC_RELEASE);
	return done->res;
}

/* Several at once, in a ring of their own; what each did, in their order. */
static inline void uring_several(const struct io_uring_sqe *entries, int *ret_results,
				 unsigned int many)
{
	struct io_uring_cqe *done;
	struct uring ring;
	unsigned int mask;

	errno = uring_open(&ring, 0);
	if (errno)
		broken("io_uring_setup");
	mask = *ring_word(&ring, ring.params.sq_off.ring_mask);
	for (unsigned int i = 0; i < many; i++) {
		ring.entries[i & mask] = entries[i];
		ring.entries[i & mask].user_data = i;
		ring_word(&ring, ring.params.sq_off.array)[i & mask] = i & mask;
	}
	__atomic_store_n(ring_word(&ring, ring.params.sq_off.tail), many, __ATOMIC_RELEASE);
	NEED(syscall(SYS_io_uring_enter, ring.fd, many, many, IORING_ENTER_GETEVENTS, NULL, 0));
	done = (struct io_uring_cqe *)((char *)ring.rings + ring.params.cq_off.cqes);
	for (unsigned int i = 0; i < many; i++)
		ret_results[done[i].user_data] = done[i].res;
	close(ring.fd);
}

/* One request in a ring of its own; an errno, or 0. */
static inline int uring_once(struct io_uring_sqe entry)
{
	struct uring ring;
	int result = uring_open(&ring, 0);

	if (result) {
		errno = result;
		broken("io_uring_setup");
	}
	result = uring_request(&ring, entry);
	close(ring.fd);
	return result < 0 ? -result : 0;
}

static inline struct io_uring_sqe uring_openat(const char *path, int flags)
{
	return (struct io_uring_sqe){
		.opcode = IORING_OP_OPENAT,
		.fd = AT_FDCWD,
		.addr = (unsigned long)path,
		.open_flags = flags,
		.len = 0600,
	};
}

#endif
