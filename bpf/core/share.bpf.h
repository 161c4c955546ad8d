/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Charges entries of the shared maps to executions and users: see pure/shares.h for the rule.
 *
 * Fail closed: a call that needs an entry fails if there is none left for its execution.
 */
#ifndef CORDON_BPF_SHARE_BPF_H
#define CORDON_BPF_SHARE_BPF_H

#include "bpf/pure/shares.h"

/* Entries that each user holds, by share_user(). The last element counts all users. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CORDON_SHARE_USERS + 1);
	__type(key, __u32);
	__type(value, struct cordon_shares);
} shares SEC(".maps");

/* Several users may map to one element, but root has an element for itself. */
static __always_inline __u32 share_user(__u32 uid)
{
	return uid ? 1 + uid % (CORDON_SHARE_USERS - 1) : 0;
}

static __always_inline __u64 *share_count(__u32 user, __u32 kind)
{
	struct cordon_shares *held = bpf_map_lookup_elem(&shares, &user);

	return held ? &held->held[kind & (CORDON_SHARE_SLOTS - 1)] : 0;
}

/* The check of share_take(), without taking an entry. */
static __always_inline bool share_may_take(__u32 user, __u32 kind, __u64 capacity, __u64 held)
{
	const __u64 *all = share_count(CORDON_SHARE_USERS, kind), *own = share_count(user, kind);

	return all && own && share_is_left(capacity, *all, held, *own, user == 0);
}

/*
 * Takes an entry, before it is created, for an execution that holds `held` already. Returns false
 * if none is left for it.
 */
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

/* For what exists already, allowed or not. */
static __always_inline void share_add(__u32 user, __u32 kind)
{
	__u64 *all = share_count(CORDON_SHARE_USERS, kind), *own = share_count(user, kind);

	if (!all || !own)
		return;
	__sync_fetch_and_add(all, 1);
	__sync_fetch_and_add(own, 1);
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
