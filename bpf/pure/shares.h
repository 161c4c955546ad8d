/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The maps that all executions share, their capacity, and the rule for taking an entry. Plain C for
 * both sides, see matcher.h.
 *
 * Each entry is charged to an execution and to the user that it runs as. An execution holds at most
 * a quarter of the free entries, and never more than its own limit. A user other than root holds at
 * most the free entries above the reserve of root. The number of free entries shrinks with each
 * entry, so that greedy executions always leave some for others (dynamic thresholds: Choudhury and
 * Hahne, IEEE/ACM Transactions on Networking 6, 1998).
 */
#ifndef CORDON_BPF_SHARES_H
#define CORDON_BPF_SHARES_H

#include "bpf/abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* Entries of each map, and of them the most that one execution holds. */
#define LABELS_ALL	 CORDON_MAX_LABELS
#define LABELS_EACH	 CORDON_MAX_TASKS
#define CREDENTIALS_ALL	 (2 * CORDON_MAX_LABELS)
#define CREDENTIALS_EACH (2 * CORDON_MAX_TASKS)
#define TEMPORARY_ALL	 65536u
#define TEMPORARY_EACH	 4096u
#define WATCHERS_ALL	 16384u
#define WATCHERS_EACH	 CORDON_MAX_WATCHERS
#define IPC_ALL		 16384u
#define IPC_EACH	 CORDON_MAX_IPC
#define SUPERBLOCKS_ALL	 16384u
#define SUPERBLOCKS_EACH 256u
#define ROLES_ALL	 16384u
#define TERMINALS_ALL	 4096u /* kernel.pty.max, unless the host sets another one */
#define TERMINALS_EACH	 64u
#define TRAFFIC_ALL	 CORDON_MAX_TRAFFIC
#define TRAFFIC_EACH	 CORDON_MAX_DESTINATIONS

/* Part of the free entries that one execution may hold, and part of all entries kept for root. */
#define SHARE_FREE_PART	   4u
#define SHARE_RESERVE_PART 8u

/* May an execution that holds `held` entries take another one? Its user holds `by_user`. */
static __always_inline int share_is_left(__u64 capacity, __u64 taken, __u64 held, __u64 by_user,
					 int is_root)
{
	__u64 free = taken < capacity ? capacity - taken : 0;
	__u64 reserve = capacity / SHARE_RESERVE_PART;

	if (held >= free / SHARE_FREE_PART)
		return 0;
	return is_root || by_user + reserve < free;
}

#endif
