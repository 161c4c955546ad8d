/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sheltered addresses: the host's own (loopback), those at which clouds hand out credentials to
 * whoever asks, all that IPv6 makes of these, groups, and everybody on the link. A wide block or
 * `to: any` does not lead there; a rule must name them.
 */
#ifndef CORDON_POLICY_SHELTERED_H
#define CORDON_POLICY_SHELTERED_H

#include "policy/source/model.h"
#include "policy/automaton/nfa.h"

/* Is this address in one of the sheltered blocks? `address`: 4 or 16 bytes, network order. */
bool sheltered_address(uint8_t family, const uint8_t *address);

/* Does the block reach over a sheltered one, without lying in it? */
bool sheltered_within(const struct net_block *block);

/*
 * Does a rule for this block name the addresses in it? It does as a single address, and within a
 * sheltered block. What it names it leads to even where that is the host itself (CORDON_NET_HOST).
 */
bool sheltered_named(const struct net_block *block);

/*
 * Calls `visit` for each node that is reached from `node` by the addresses of `block` but those of
 * sheltered blocks that it reaches over. Returns what `visit` returned if that is not 0; -ENOMEM;
 * -E2BIG.
 */
int sheltered_follow(struct nfa *n, uint32_t node, const struct net_block *block,
		     int (*visit)(void *context, uint32_t node), void *context);

#endif
