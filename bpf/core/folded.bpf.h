/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Names in directories that compare them without case (a directory of ext4, f2fs or tmpfs with the
 * flag, vfat and the like). A dentry there has the name of the first lookup, not the stored name,
 * so that a rule must match each spelling of the file's name.
 *
 * Each run takes both cases of each letter, and becomes one run for each state that some spelling
 * reaches. The outcomes of all are joined, deny over allow. Fail closed: a name with bytes beyond
 * ASCII may be equal to others by rules that only the file system has, and has no verdict; nor has
 * a name that leads to more states than there is room for.
 */
#ifndef CORDON_BPF_FOLDED_BPF_H
#define CORDON_BPF_FOLDED_BPF_H

#include "bpf/core/superblock.bpf.h"
#include "bpf/core/tables.bpf.h"

/*
 * How the directory that holds a dentry compares names: COMPONENT_*, 0: by their bytes. `flags` and
 * `parent` are the dentry's own.
 */
static __always_inline __u32 folds_of(__u32 flags, __u64 dentry, __u64 parent)
{
	__u64 super_block, directory;

	if (!(flags & DCACHE_OP_COMPARE))
		return 0;
	super_block = super_block_of(dentry);
	directory = read_u64(FIELD(struct dentry, parent, d_inode));
	if (may_fold_case(super_block))
		return read_u32(FIELD(struct inode, directory, i_flags)) & S_CASEFOLD
			       ? COMPONENT_FOLDED
			       : 0;
	/* Sysctls of other namespaces, by the same names (proc_sys_compare()). */
	if (read_u64(FIELD(struct super_block, super_block, s_magic)) == PROC_SUPER_MAGIC)
		return 0;
	return COMPONENT_FOLDED | COMPONENT_DOS;
}

static __always_inline bool is_letter(__u8 byte)
{
	return (__u8)((byte | 0x20) - 'a') < 26;
}

/*
 * May a name with this byte be equal to another name in more than case? On vfat, a file has a short
 * name as well ("GIT~1"), and dots and spaces at the end do not count. On SMB and NTFS, a stream
 * follows behind a colon.
 */
static __always_inline bool is_equivocal(const struct walk *walk, __u8 before, __u8 byte)
{
	if (byte & 0x80)
		return true;
	if (!(walk->fold.marks & COMPONENT_DOS))
		return false;
	return byte == ':' || (before == '~' && (__u8)(byte - '0') < 10) ||
	       (walk->fold.at == walk->length - 1 && (byte == '.' || byte == ' '));
}

static __always_inline void fold_add(struct fold *fold, __u32 side, __u32 state)
{
	__u32 count = fold->count[side & 1];

#pragma unroll
	for (__u32 i = 0; i < FOLD_STATES; i++)
		if (i < count && fold->state[side & 1][i] == state)
			return;
	if (count >= FOLD_STATES) {
		fold->failed = 1;
		return;
	}
	fold->state[side & 1][count & (FOLD_STATES - 1)] = state;
	fold->count[side & 1] = count + 1;
}

static __always_inline __u32 fold_next(const struct subject *s, __u32 state, __u8 byte)
{
	return state & CORDON_ABSORBING ? state : step_any(s, &s->walk->matcher, state, byte);
}

/* One byte from one of the states before it. The states before and behind it change places. */
static long fold_step(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	struct fold *fold = &walk->fold;
	const __u8 *bytes = &walk->slash;
	__u32 at = fold->at, side = at & 1, state;
	__u8 byte;

	if (at >= walk->length)
		return 1;
	byte = bytes[at & (2 * CORDON_NAME_MAX + 1)];
	if (is_equivocal(walk, at ? bytes[(at - 1) & (2 * CORDON_NAME_MAX + 1)] : 0, byte)) {
		fold->failed = 1;
		return 1;
	}
	state = fold->state[side][fold->member & (FOLD_STATES - 1)];
	fold_add(fold, !side, fold_next(s, state, byte));
	if (is_letter(byte))
		fold_add(fold, !side, fold_next(s, state, byte ^ 0x20));
	fold->member++;
	if (fold->member >= fold->count[side]) {
		fold->member = 0;
		fold->count[side] = 0;
		fold->at = at + 1;
	}
	return fold->failed & 1;
}

/* Adds a run like this one in another state. It begins at the next component. */
static __always_inline bool run_fork(struct walk *walk, const struct name_run *run, __u32 state)
{
	if (state == CORDON_STATE_DEAD)
		return true;
	if (walk->run_count >= NAME_RUNS)
		return false;
	run_add(walk, run->number, state, run->depth);
	walk->forked = 1;
	return true;
}

/* Takes a run over the component in walk->name. false: the name has no verdict. */
static __always_inline bool fold_run(const struct subject *s, struct name_run *run)
{
	struct walk *walk = s->walk;
	struct fold *fold = &walk->fold;
	__u32 side;

	fold->at = 0;
	fold->member = 0;
	fold->failed = 0;
	fold->state[0][0] = run->state;
	fold->count[0] = 1;
	fold->count[1] = 0;
	bpf_loop((CORDON_NAME_MAX + 1) * FOLD_STATES, fold_step, (void *)s, 0);
	if (fold->failed)
		return false;
	side = walk->length & 1;
	run->state = fold->state[side][0];
	if (run->state & CORDON_ABSORBING)
		walk->going--;
#pragma unroll
	for (__u32 i = 1; i < FOLD_STATES; i++)
		if (i < fold->count[side] && !run_fork(walk, run, fold->state[side][i]))
			return false;
	return true;
}

#endif
