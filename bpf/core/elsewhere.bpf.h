/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Questions about objects that are reached by a mount of another namespace than the one recorded
 * for the execution: in a sandbox that it has made (CORDON_POLICY_OWN_NAMESPACES), by a mount that
 * is not attached anywhere, or by one that is no longer.
 *
 * What was mounted there came from somewhere. If its file system is mounted in the reference
 * namespace, the object is asked about by the names that those mounts give it, as if it had been
 * reached by one of them: the first that grants what is wanted, and what a rule denies by any of
 * them is denied (every_name.bpf.h). The name in the sandbox says nothing.
 *
 * A file system that the execution has made has no such mount:
 *
 * - one in memory, and terminals and queues of its own, are its to read and write, and code there
 *   is what code in memory is, "@memfd": whatever name it is mounted over, no rule by name lets
 *   it run;
 * - procfs is asked about as what stands under /proc.
 *
 * Fail closed: what has neither, or was made by somebody else, is denied.
 */
#ifndef CORDON_BPF_ELSEWHERE_BPF_H
#define CORDON_BPF_ELSEWHERE_BPF_H

#include "bpf/core/decide.bpf.h"
#include "bpf/core/every_name.bpf.h"

#define OWN_FILE_RIGHTS                                                                            \
	(CORDON_RIGHT(CORDON_READ) | CORDON_RIGHT(CORDON_WRITE) | CORDON_RIGHT(CORDON_CREATE) |    \
	 CORDON_RIGHT(CORDON_DELETE) | CORDON_RIGHT(CORDON_METADATA) |                             \
	 CORDON_RIGHT(CORDON_SPECIAL) | CORDON_RIGHT(CORDON_LINKS))

/* Rights are the same for all that is in it, so that nothing is gained by a move. */
static __always_inline void answer_own_memory(const struct subject *s, __u32 wanted)
{
	struct walk *walk = s->walk;
	struct answer *a = &walk->answer;
	__u32 code = wanted & CORDON_EXEC_RIGHTS, allow = OWN_FILE_RIGHTS;

	if (code) {
		ask_short_body(s, CORDON_START_PATH, spell_special(s, true), code);
		allow |= a->verdict.allow & ~a->verdict.deny & CORDON_EXEC_RIGHTS;
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
 * In a file system that an execution has made? By itself, as what follows, so that what it has on
 * the stack is not there while names are asked about.
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

/* What says nothing yet is not the name that was meant. */
static __always_inline bool is_granted(const struct walk *walk)
{
	const struct answer *a = &walk->answer;

	if (a->missing || a->reason == CORDON_REASON_UNRESOLVED ||
	    a->reason == CORDON_REASON_FOREIGN)
		return false;
	return walk->wanted || (a->verdict.allow & ~a->verdict.deny);
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
	/* Nobody has asked yet whether what is in it has other names. */
	forget_directory(walk);
	return 0;
}

/* Instead of ask(), of what is_elsewhere() or has no mount. */
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
	/* Nothing but a name for the record comes of that which was used. */
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

/* The question of which the hook knows no mount. */
static __always_inline void ask_by_all_mounts(const struct subject *s)
{
	struct walk *walk = s->walk;
	__u64 super_block = super_block_of(walk->dentry);

	walk->flags &= ~NAME_MOUNTLESS;
	/* In a file system that an execution has made, whatever mount there is in the reference. */
	if (has_own_namespaces(s) && maker_of_superblock(super_block))
		ask_elsewhere(APART(s));
	else
		ask_mountless(s, super_block);
}

/* Replaces ask_whole(). What cannot be resolved is missing altogether. */
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
