/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deferred messages: acknowledged, but not decided yet. The store keeps their numbers in the stream
 * and reads them from there again. Messages of a host over its share are read in the host's next
 * time slice. Held messages are read when the records that they need have arrived.
 *
 * No host's messages delay another host's, and messages over a host's quota use no disk space of
 * the store.
 */
#ifndef CORDON_FLEET_LATER_H
#define CORDON_FLEET_LATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fleet/store/delivery.h"
#include "fleet/store/rows.h"

/* The stream of a message. */
enum later_kind {
	LATER_RECORDS,
	LATER_POLICY,
};

struct later_entry {
	enum later_kind kind;
	uint64_t number; /* in its stream */
	/* Attempts begun. It is limited, so that a message cannot crash the store repeatedly. */
	unsigned int tries;
	char host[DELIVERY_ID_SIZE];
};

struct later;

/* `rows` must outlive *ret_later. Returns 0, -EIO or -ENOMEM. */
int later_open(struct rows *rows, struct later **ret_later, struct failure *failure);
void later_close(struct later *later);

/*
 * All functions below require a transaction of the rows, and return errors as in rows.h.
 *
 * Defers a message; with `held` until later_release(). Beyond `most` messages of a host it is
 * dropped and counted as excess. Uses the host, log and range of `delivery`.
 */
int later_add(struct later *later, enum later_kind kind, uint64_t number,
	      const struct delivery *delivery, bool held, const char *reason, uint64_t most,
	      struct failure *failure);
/* Returns 1 if the host has deferred messages that are not held, otherwise 0. */
int later_has(struct later *later, const char *host, struct failure *failure);
/* The same for any host. Requires no transaction. */
int later_any(struct later *later, struct failure *failure);

/*
 * Returns at most `most` of the oldest messages of the first host after `after`, or of the first
 * host. Each counts as begun. A message that was begun before is returned alone. *ret_count is 0 if
 * there are none.
 */
int later_next(struct later *later, const char *after, struct later_entry *entries, size_t most,
	       size_t *ret_count, struct failure *failure);
/* Undoes the count of later_next() for a message that was not begun. */
int later_put_back(struct later *later, const struct later_entry *entry, struct failure *failure);
int later_done(struct later *later, const struct later_entry *entry, struct failure *failure);
int later_hold(struct later *later, const struct later_entry *entry, const char *reason,
	       struct failure *failure);

/* Releases the held messages of a log that begin at or before record `next`. */
int later_release(struct later *later, const char *host, const char *log, uint64_t next,
		  struct failure *failure);
/* Releases all, because quotas may have changed. */
int later_release_all(struct later *later, struct failure *failure);

#endif
