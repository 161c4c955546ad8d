/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Foreign mounts: checks on objects that are reached by a mount outside of the recorded mount
 * namespace. Such a mount is in a sandbox that the execution made (CORDON_POLICY_OWN_NAMESPACES),
 * or is not attached anywhere.
 *
 * If the object's file system is mounted in the recorded namespace, the object is checked by the
 * names that these mounts give it. The first name that grants the requested rights counts. A deny
 * rule for any of the names denies (every_name.bpf.h). The name in the sandbox does not matter.
 *
 * A file system that the execution has made has no such mount:
 *
 * - A file system in memory, and the execution's own terminals and queues, may be read and
 *  written. Code in it is checked as "@memfd", whatever name it is mounted over. No rule by
 *  name allows running it.
 * - procfs is checked as if below /proc.
 *
 * Fail closed: an object with neither, or in a file system that another execution made, is denied.
 */
#ifndef CORDON_BPF_ELSEWHERE_BPF_H
#define CORDON_BPF_ELSEWHERE_BPF_H

#include "bpf/core/decide.bpf.h"
#include "bpf/core/every_name.bpf.h"

#define OWN_FILE_RIGHTS                                                                            \
	(CORDON_RIGHT(CORDON_READ) | CORDON_RIGHT(CORDON_WRITE) | CORDON_RIGHT(CORDON_CREATE) |    \
	 CORDON_RIGHT(CORDON_DELETE) | CORDON_RIGHT(CORDON_METADATA) |                             \
	 CORDON_RIGHT(CORDON_SPECIAL) | CORDON_RIGHT(CORDON_LINKS))

/* All objects in it have the same rights, so that a move gains nothing. */
static __always_inline void answer_own_memory(const struct subject *s, __u32 wanted)
{
	struct walk *walk = s->walk;
	struct answer *a = &walk->answer;
	__u32 code = wanted & CORDON_EXEC_RIGHTS, allow = OWN_FILE_RIGHTS;

	if (code) {
		ask_short_body(s, CORDON_START_PATH, spell_special(s, true), code);
		allow |= verdict_granted(&a->verdict) & CORDON_EXEC_RIGHTS;
	} else {
		answer_clear(a, wanted);
	}
	a->verdict.allow = allow;
	a->verdict.deny = 0;
	a->verdict.may_allow = allow;
	a->verdict.must_allow = allow;
	a->verdict.may_deny = 0;
	a->below = 0;
	a->missing = verdict_missing(&a->verdict, wanted);
	walk->run_count = 0;
	__builtin_memset(walk->finals, 0, sizeof(walk->finals));
	if (walk->flags & NAME_SOURCE) {
		walk->from = *a;
		__builtin_memset(walk->from_finals, 0, sizeof(walk->from_finals));
	}
}

/*
 * Is the object in a file system that an execution has made? A separate function, like the next
 * one, so that its variables are not on the stack during checks by name.
 */
static __noinline bool is_made(const struct walk *walk)
{
	return maker_of_superblock(super_block_of(walk->dentry));
}

static __noinline void ask_in_own(const struct subject *s)
{
	struct walk *walk = s->walk;
	__u64 super_block = super_block_of(walk->dentry);
	__u64 magic = read_u64(FIELD(struct super_block, super_block, s_magic));

	if (!is_own_superblock(s, super_block) || !is_plain_magic(magic))
		return;
	walk->leaf.directory = 0;
	walk->own = magic == PROC_SUPER_MAGIC ? OWN_PROC : OWN_MEMORY;
	ask(s);
	walk->own = OWN_NOT;
	if (magic != PROC_SUPER_MAGIC && walk->answer.reason != CORDON_REASON_UNRESOLVED)
		answer_own_memory(s, walk->wanted);
}

/* An undecided result does not count as the intended name. */
static __always_inline bool is_granted(const struct walk *walk)
{
	const struct answer *a = &walk->answer;

	if (a->missing || a->reason == CORDON_REASON_UNRESOLVED ||
	    a->reason == CORDON_REASON_FOREIGN)
		return false;
	return walk->wanted || verdict_granted(&a->verdict);
}

static long ask_by_reference(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	__u64 mount = next_other_mount(s);

	if (!mount)
		return walk->others.at == ALL_SEEN || index >= SEARCH_TURNS;
	if (!is_below(walk->dentry, read_u64(FIELD(struct mount, mount, mnt.mnt_root))))
		return 0;
	walk->vfsmount = FIELD(struct mount, mount, mnt);
	walk->leaf.directory = 0;
	if (is_cacheable(s))
		note_leaf_at(walk, walk->dentry);
	ask(s);
	if (is_granted(walk))
		return 1;
	/* Path aliases of the directory's objects were not checked, so do not cache it. */
	forget_directory(walk);
	return 0;
}

/* Replaces ask() if is_elsewhere(), or if the object has no mount. */
__noinline int ask_elsewhere(APART_ARGUMENTS)
{
	struct subject s;

	if (!walk || !execution || !page)
		return 0;
	answer_unnamed(&walk->answer, walk->wanted, CORDON_REASON_UNRESOLVED);
	walk->partial = RECALL_NONE;
	walk->depth = 0;
	walk->run_count = 0;
	if (!subject_again(&s, walk, execution, page, policy, label))
		return 0;
	if (is_made(walk)) {
		ask_in_own(&s);
		return 0;
	}
	walk->others.at = 0;
	walk->others.used = walk->vfsmount;
	bpf_loop(CORDON_MAX_COMPONENTS * SEARCH_TURNS, ask_by_reference, &s, 0);
	/* For the event, format the name on the mount of the access. */
	if (walk->answer.reason == CORDON_REASON_UNRESOLVED && walk->others.used) {
		walk->vfsmount = walk->others.used;
		walk->leaf.directory = 0;
		ask(&s);
	}
	return 0;
}

static __always_inline void ask_by_mount_used(const struct subject *s)
{
	if (is_elsewhere(s, s->walk->vfsmount))
		ask_elsewhere(APART(s));
	else
		ask(s);
}

/* A check without a mount. */
static __always_inline void ask_by_all_mounts(const struct subject *s)
{
	struct walk *walk = s->walk;
	__u64 super_block = super_block_of(walk->dentry);

	walk->flags &= ~NAME_MOUNTLESS;
	/*
	 * In a file system that an execution has made, any mount in the recorded namespace is
	 * ignored.
	 */
	if (has_own_namespaces(s) && maker_of_superblock(super_block))
		ask_elsewhere(APART(s));
	else
		ask_mountless(s, super_block);
}

/* Replaces ask_whole(). If the object cannot be resolved, all rights are missing. */
static __always_inline int ask_whole_body(APART_ARGUMENTS)
{
	struct subject s;

	if (!walk || !execution || !page)
		return 0;
	if (!subject_again(&s, walk, execution, page, policy, label)) {
		answer_unnamed(&walk->answer, walk->wanted, CORDON_REASON_UNRESOLVED);
		return 0;
	}
	if (walk->flags & NAME_MOUNTLESS) {
		ask_by_all_mounts(&s);
	} else {
		ask_by_mount_used(&s);
		ask_other_names(&s);
	}
	return 0;
}

#endif
