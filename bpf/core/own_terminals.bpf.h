/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Pseudo-terminals that executions have made. Under CORDON_POLICY_OWN_TERMINALS an execution opens
 * its own, and no others unless a rule names them.
 *
 * Each open of /dev/ptmx makes a pair. The kernel gives the other side's inode to its name below
 * /dev/pts in the same call (devpts_pty_new(), fs/devpts/inode.c), and that inode is noted. Each
 * pair has another inode, whatever its number is, and TIOCGPTPEER opens the same one. The note ends
 * with the inode, which outlives the execution only if another process holds the pair.
 */
#ifndef CORDON_BPF_OWN_TERMINALS_BPF_H
#define CORDON_BPF_OWN_TERMINALS_BPF_H

#include "bpf/core/held.bpf.h"

/* By address of the inode, with the label under which the pair was made. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TERMINALS_ALL);
	__type(key, __u64);
	__type(value, struct owned);
} own_terminals SEC(".maps");

static __always_inline bool has_own_terminals(const struct subject *s)
{
	return s->policy->flags & CORDON_POLICY_OWN_TERMINALS;
}

/* Has the execution made it? Whether the policy lets it open its terminals is not checked here. */
static __always_inline bool is_own_terminal(const struct subject *s, __u64 inode)
{
	const struct owned *found = bpf_map_lookup_elem(&own_terminals, &inode);

	return found && same_label(&found->label, &s->label);
}

/* /dev/ptmx, by whichever name. */
static __always_inline bool makes_terminals(const struct file_object *o)
{
	return (o->mode & S_IFMT) == S_IFCHR &&
	       read_u32(FIELD(struct inode, o->inode, i_rdev)) == DEVICE_PTMX;
}

/* The inode below /dev/pts of the pair that an open /dev/ptmx belongs to. */
static __always_inline __u64 other_side(__u64 file)
{
	__u64 private = read_u64(FIELD(struct file, file, private_data));
	__u64 terminal = read_u64(FIELD(struct tty_file_private, private, tty));
	__u64 other = read_u64(FIELD(struct tty_struct, terminal, link));
	__u64 dentry = read_u64(FIELD(struct tty_struct, other, driver_data));

	return read_u64(FIELD(struct dentry, dentry, d_inode));
}

/*
 * Takes a place for a pair that is about to be made. It is given back when the pair is freed. If
 * the kernel then makes none, the place remains taken until the execution ends.
 */
static __always_inline bool claim_terminal(const struct subject *s)
{
	struct cordon_execution *execution = s->execution;
	__u32 held = __sync_fetch_and_add(&execution->terminals, 1);

	if (held < TERMINALS_EACH &&
	    share_may_take(execution->user, CORDON_SHARE_TERMINALS, TERMINALS_ALL, held))
		return true;
	/* An observed execution makes the pair, which gives a place back. */
	if (!observes(s))
		__sync_fetch_and_add(&execution->terminals, -1);
	return false;
}

static __always_inline bool is_terminal_inode(__u64 inode)
{
	__u64 super_block = read_u64(FIELD(struct inode, inode, i_sb));

	return super_block &&
	       read_u64(FIELD(struct super_block, super_block, s_magic)) == DEVPTS_SUPER_MAGIC &&
	       is_terminal(read_u32(FIELD(struct inode, inode, i_rdev)));
}

/* The pair has been made. It counts even if too many were claimed at the same time. */
static __always_inline void note_own_terminal(const struct subject *s, __u64 inode)
{
	struct owned owned = {.label = s->label, .user = s->execution->user};

	if (bpf_map_update_elem(&own_terminals, &inode, &owned, BPF_NOEXIST) == 0)
		share_add(owned.user, CORDON_SHARE_TERMINALS);
}

static __always_inline void forget_terminal(__u64 inode)
{
	const struct owned *found = bpf_map_lookup_elem(&own_terminals, &inode);
	struct cordon_execution *execution;
	struct owned owned;

	if (!found)
		return;
	owned = *found;
	if (bpf_map_delete_elem(&own_terminals, &inode))
		return;
	share_give_back(owned.user, CORDON_SHARE_TERMINALS);
	execution = execution_of(&owned.label);
	if (execution)
		__sync_fetch_and_add(&execution->terminals, -1);
}

#endif
