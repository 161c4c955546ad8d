/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Charges entries of the shared maps to executions and users: see pure/shares.h for the rule.
 *
 * Fail closed: a call that needs an entry fails if there is none left for its execution.
 */
#ifndef CORDON_BPF_SHARE_BPF_H
#define CORDON_BPF_SHARE_BPF_H

#include "bpf/pure/shares.h"

/* What each user holds, by share_user(); the last element is what all hold. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CORDON_SHARE_USERS + 1);
	__type(key, __u32);
	__type(value, struct cordon_shares);
} shares SEC(".maps");

/* Users may share a place, but none shares root's. */
static __always_inline __u32 share_user(__u32 uid)
{
	return uid ? 1 + uid % (CORDON_SHARE_USERS - 1) : 0;
}

static __always_inline __u64 *share_count(__u32 user, __u32 kind)
{
	struct cordon_shares *held = bpf_map_lookup_elem(&shares, &user);

	return held ? &held->held[kind & (CORDON_SHARE_SLOTS - 1)] : 0;
}

/* share_take() without taking: whether to begin at all. */
static __always_inline bool share_may_take(__u32 user, __u32 kind, __u64 capacity, __u64 held)
{
	const __u64 *all = share_count(CORDON_SHARE_USERS, kind), *own = share_count(user, kind);

	return all && own && share_is_left(capacity, *all, held, *own, user == 0);
}

/* False: no entry is left for who holds `held` already. Counted before it is made. */
static __always_inline bool share_take(__u32 user, __u32 kind, __u64 capacity, __u64 held)
{
	__u64 *all = share_count(CORDON_SHARE_USERS, kind), *own = share_count(user, kind);
	__u64 taken, mine;

	if (!all || !own)
		return false;
	taken = __sync_fetch_and_add(all, 1);
	mine = __sync_fetch_and_add(own, 1);
	if (share_is_left(capacity, taken, held, mine, user == 0))
		return true;
	__sync_fetch_and_add(all, -1);
	__sync_fetch_and_add(own, -1);
	return false;
}

static __always_inline void share_give_back(__u32 user, __u32 kind)
{
	__u64 *all = share_count(CORDON_SHARE_USERS, kind), *own = share_count(user, kind);

	if (!all || !own)
		return;
	__sync_fetch_and_add(all, -1);
	__sync_fetch_and_add(own, -1);
}

#endif
