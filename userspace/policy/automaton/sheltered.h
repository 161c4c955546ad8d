/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sheltered addresses are excluded from wide blocks and from `to: any`: a rule must name them. They
 * are loopback addresses, the addresses where clouds hand out credentials, the IPv6 forms of both,
 * and multicast and broadcast addresses.
 */
#ifndef CORDON_POLICY_SHELTERED_H
#define CORDON_POLICY_SHELTERED_H

#include "policy/source/model.h"
#include "policy/automaton/nfa.h"

/* True if the address is in a sheltered block. `address`: 4 or 16 bytes, network order. */
bool sheltered_address(uint8_t family, const uint8_t *address);

/* True if the block contains a sheltered block without being inside it. */
bool sheltered_within(const struct net_block *block);

/*
 * True if a rule for this block names its addresses: it is a single address, or is inside a
 * sheltered block. Such a rule allows these addresses even if they are the host's
 * (CORDON_NET_HOST).
 */
bool sheltered_named(const struct net_block *block);

/*
 * Calls `visit` for each node that the addresses of `block` reach from `node`, except those in
 * excluded sheltered blocks. Returns the result of `visit` if that is not 0; -ENOMEM; -E2BIG.
 */
int sheltered_follow(struct nfa *n, uint32_t node, const struct net_block *block,
		     int (*visit)(void *context, uint32_t node), void *context);

#endif
