/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of one execution that were read from the rings and are not on record yet. The rings are
 * one queue of all executions, and making a record costs many times what reading an event does: so
 * all is read at once, and records are made of each execution's in turn. Who tells most waits
 * longest, and loses what finds no room; nobody else waits for it.
 */
#ifndef CORDON_DAEMON_BACKLOG_H
#define CORDON_DAEMON_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct backlog {
	TAILQ_ENTRY(backlog) link; /* while there is something in it */
	char *data;
	size_t first, end, capacity; /* bytes */
	bool losing;		     /* was full, and is not half empty yet */
};

/* All zero to begin with. */
struct backlogs {
	TAILQ_HEAD(, backlog) waiting; /* whose turn it is comes first */
	size_t size;		       /* bytes, of all */
};

/* Bytes that one of them may hold while so many are taken by all. */
size_t backlog_limit(size_t size);

static inline bool backlog_is_empty(const struct backlog *backlog)
{
	return backlog->first == backlog->end;
}

/*
 * Keeps a copy of an event. -ENOBUFS: this one has its share, and until half of that is free again,
 * so that what is lost is few holes; -ENOMEM.
 */
int backlog_add(struct backlogs *all, struct backlog *backlog, const void *event, size_t size);

/* The same for what must not be lost for the others: there is a quarter more room. */
int backlog_add_important(struct backlogs *all, struct backlog *backlog, const void *event,
			  size_t size);

/* The first event, valid until the next call; NULL: none. */
const void *backlog_first(const struct backlog *backlog, size_t *ret_size);
void backlog_drop_first(struct backlogs *all, struct backlog *backlog);

/* Whose turn it is; NULL: nobody's. */
struct backlog *backlogs_next(struct backlogs *all);
/* It had its turn: the others come first. */
void backlogs_rotate(struct backlogs *all, struct backlog *backlog);

void backlog_free(struct backlogs *all, struct backlog *backlog);

#endif
