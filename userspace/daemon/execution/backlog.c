/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps events of each execution until it is their turn to become records. */
#include "daemon/execution/backlog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What one may have while nobody else has anything: half of what the ring of denials holds. */
#define EACH_MAX (4u << 20)
/* And while all room is taken: few events. */
#define EACH_MIN (8u << 10)
#define ALL_MAX	 (64u << 20)
/* The free bytes are for so many: how switches let queues of packets share their memory. */
#define FREE_PART 4
/* What is important may have so much more. */
#define IMPORTANT_PART 4

struct kept {
	size_t size;
	char event[];
};

static size_t room_of(size_t size)
{
	return (sizeof(struct kept) + size + 7) & ~(size_t)7;
}

size_t backlog_limit(size_t size)
{
	size_t part = size < ALL_MAX ? (ALL_MAX - size) / FREE_PART : 0;

	return part > EACH_MAX ? EACH_MAX : part > EACH_MIN ? part : EACH_MIN;
}

static size_t used(const struct backlog *backlog)
{
	return backlog->end - backlog->first;
}

/* What was taken out leaves its room at the front, which is moved to the end when that is full. */
static int make_room(struct backlog *backlog, size_t needed)
{
	size_t capacity = backlog->capacity;
	char *grown;

	if (needed <= capacity - backlog->end)
		return 0;
	if (backlog->first >= used(backlog) && needed <= capacity - used(backlog)) {
		/* Neither overlaps the other. */
		memcpy(backlog->data, backlog->data + backlog->first, used(backlog));
		backlog->end -= backlog->first;
		backlog->first = 0;
		return 0;
	}
	while (capacity - backlog->end < needed)
		capacity = capacity ? 2 * capacity : EACH_MIN;
	grown = realloc(backlog->data, capacity);
	if (!grown)
		return -ENOMEM;
	backlog->data = grown;
	backlog->capacity = capacity;
	return 0;
}

static int add(struct backlogs *all, struct backlog *backlog, const void *event, size_t size)
{
	size_t needed = room_of(size);
	struct kept *kept;
	int r = make_room(backlog, needed);

	if (r < 0)
		return r;
	if (!all->waiting.tqh_last)
		TAILQ_INIT(&all->waiting);
	if (backlog_is_empty(backlog))
		TAILQ_INSERT_TAIL(&all->waiting, backlog, link);
	kept = (void *)(backlog->data + backlog->end);
	kept->size = size;
	memcpy(kept->event, event, size);
	backlog->end += needed;
	all->size += needed;
	return 0;
}

int backlog_add(struct backlogs *all, struct backlog *backlog, const void *event, size_t size)
{
	size_t limit = backlog_limit(all->size);

	backlog->losing = used(backlog) + room_of(size) > (backlog->losing ? limit / 2 : limit);
	return backlog->losing ? -ENOBUFS : add(all, backlog, event, size);
}

int backlog_add_important(struct backlogs *all, struct backlog *backlog, const void *event,
			  size_t size)
{
	size_t limit = backlog_limit(all->size);

	if (used(backlog) + room_of(size) > limit + limit / IMPORTANT_PART)
		return -ENOBUFS;
	return add(all, backlog, event, size);
}

const void *backlog_first(const struct backlog *backlog, size_t *ret_size)
{
	const struct kept *kept;

	if (backlog_is_empty(backlog))
		return NULL;
	kept = (const void *)(backlog->data + backlog->first);
	*ret_size = kept->size;
	return kept->event;
}

void backlog_drop_first(struct backlogs *all, struct backlog *backlog)
{
	const struct kept *kept = (const void *)(backlog->data + backlog->first);
	size_t room = room_of(kept->size);

	backlog->first += room;
	all->size -= room;
	if (!backlog_is_empty(backlog))
		return;
	TAILQ_REMOVE(&all->waiting, backlog, link);
	free(backlog->data);
	*backlog = (struct backlog){};
}

struct backlog *backlogs_next(struct backlogs *all)
{
	return TAILQ_FIRST(&all->waiting);
}

void backlogs_rotate(struct backlogs *all, struct backlog *backlog)
{
	TAILQ_REMOVE(&all->waiting, backlog, link);
	TAILQ_INSERT_TAIL(&all->waiting, backlog, link);
}

void backlog_free(struct backlogs *all, struct backlog *backlog)
{
	if (backlog_is_empty(backlog))
		return;
	TAILQ_REMOVE(&all->waiting, backlog, link);
	all->size -= used(backlog);
	free(backlog->data);
	*backlog = (struct backlog){};
}
