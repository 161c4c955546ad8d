/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that are acknowledged and not decided yet. The store notes their numbers in the stream,
 * and reads them from there once more: those of a host that takes more than its share when it has
 * its turn, and those that are held when what they lack has come. So no host's messages keep those
 * of another waiting, and the stream keeps what is over a host's quota on the store's own disk.
 */
#ifndef CORDON_FLEET_LATER_H
#define CORDON_FLEET_LATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fleet/store/delivery.h"
#include "fleet/store/rows.h"

/* The stream that a message is in. */
enum later_kind {
	LATER_RECORDS,
	LATER_POLICY,
};

struct later_entry {
	enum later_kind kind;
	uint64_t number; /* in its stream */
	/* How often it was begun with. Reading one must not end the store again and again. */
	unsigned int tries;
	char host[DELIVERY_ID_SIZE];
};

struct later;

/* `rows` is borrowed. -EIO, -ENOMEM. */
int later_open(struct rows *rows, struct later **ret_later, struct failure *failure);
void later_close(struct later *later);

/*
 * All below within a transaction of the rows; errors are those of rows.h.
 *
 * Notes one; `held`: until later_release(). Beyond `most` of a host it is dropped, and counted as
 * excess. Of `delivery` host, log and range are used.
 */
int later_add(struct later *later, enum later_kind kind, uint64_t number,
	      const struct delivery *delivery, bool held, const char *reason, uint64_t most,
	      struct failure *failure);
/* 1: messages of that host have their turn before others of it; 0: no. */
int later_has(struct later *later, const char *host, struct failure *failure);
/* The same of any host. Also outside of a transaction. */
int later_any(struct later *later, struct failure *failure);

/*
 * The oldest ones, `most` at most, of the first host behind `after`, or of the first of all; each
 * is noted as begun with. One that was begun with before comes alone. *ret_count 0: there are none.
 */
int later_next(struct later *later, const char *after, struct later_entry *entries, size_t most,
	       size_t *ret_count, struct failure *failure);
/* It was not begun with after all. */
int later_put_back(struct later *later, const struct later_entry *entry, struct failure *failure);
int later_done(struct later *later, const struct later_entry *entry, struct failure *failure);
int later_hold(struct later *later, const struct later_entry *entry, const char *reason,
	       struct failure *failure);

/* Those of a log that are held and begin with record `next` or before it have their turn. */
int later_release(struct later *later, const char *host, const char *log, uint64_t next,
		  struct failure *failure);
/* All: a quota may be another one. */
int later_release_all(struct later *later, struct failure *failure);

#endif
