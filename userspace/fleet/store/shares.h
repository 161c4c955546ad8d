/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the store's time each host takes. Within a window each may take a little, and beside
 * that as much as the hosts take on average; what is beyond that waits for the host's turn where
 * others wait too. One host's messages so delay those of the others by little, however many it
 * sends and however costly they are.
 */
#ifndef CORDON_FLEET_SHARES_H
#define CORDON_FLEET_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "fleet/store/delivery.h"

#define SHARES_BUCKETS 1024u

/* What a message is of. Each has a share of its own: a backlog does not delay the first lane. */
enum share_lane {
	SHARE_BULK,
	SHARE_FIRST,
	SHARE_POLICY,
	SHARE_LANES,
};

struct share {
	struct share *next, *next_touched;
	char host[DELIVERY_ID_SIZE];
	uint64_t window; /* in which all below was used */
	uint64_t used[SHARE_LANES];
	/* What it had decided in this transaction. */
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

/* Moments are monotonic, ns. Has that host taken more than its share? */
bool shares_is_spent(const struct shares *shares, const char *host, enum share_lane lane,
		     uint64_t now);
/* A message of that host took so long, and is one of the transaction. Without memory: nothing. */
void shares_use(struct shares *shares, const char *host, enum share_lane lane, uint64_t nsec,
		uint64_t now);
/* The transaction's end took so long. */
void shares_settle(struct shares *shares, uint64_t nsec, uint64_t now);

#endif
