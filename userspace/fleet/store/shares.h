/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fair shares of the store's time. Within a window each host may use a minimum plus the average of
 * all hosts. Messages beyond that are deferred while other hosts wait. A host therefore delays
 * other hosts only slightly, however many or costly its messages are.
 */
#ifndef CORDON_FLEET_SHARES_H
#define CORDON_FLEET_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "fleet/store/delivery.h"

#define SHARES_BUCKETS 1024u

/*
 * Kinds of messages, each with separate shares, so that a backlog does not delay the queue "first".
 */
enum share_lane {
	SHARE_BULK,
	SHARE_FIRST,
	SHARE_POLICY,
	SHARE_LANES,
};

struct share {
	struct share *next, *next_touched;
	char host[DELIVERY_ID_SIZE];
	uint64_t window; /* the window of `used` */
	uint64_t used[SHARE_LANES];
	/* Messages of the host in this transaction, and the kind of the last one. */
	unsigned int messages;
	enum share_lane lane;
};

struct shares {
	struct share *buckets[SHARES_BUCKETS];
	struct share *touched; /* in this transaction */
	unsigned int messages;
	uint64_t window, total[SHARE_LANES], hosts[SHARE_LANES];
};

void shares_free(struct shares *shares);

/* Times are monotonic, in ns. Returns true if the host used more than its share. */
bool shares_is_spent(const struct shares *shares, const char *host, enum share_lane lane,
		     uint64_t now);
/* Adds the duration of a message in this transaction. Ignored if out of memory. */
void shares_use(struct shares *shares, const char *host, enum share_lane lane, uint64_t nsec,
		uint64_t now);
/* Distributes the duration of the transaction's commit over its hosts. */
void shares_settle(struct shares *shares, uint64_t nsec, uint64_t now);

#endif
