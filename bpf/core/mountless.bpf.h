/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Checks on objects in hooks that have a dentry but no mount.
 *
 * The object has a name on every mount of its file system in the execution's mount namespace, if it
 * is below that mount's root. All these names are checked. One name that grants a right is
 * sufficient, because the object could be reached by that name. A deny rule for any name denies.
 *
 * Fail closed: an object without a name in the namespace is denied. So is an object if its file
 * system has too many mounts, or if changes of the mount tree disturb the check too long.
 */
#ifndef CORDON_BPF_MOUNTLESS_BPF_H
#define CORDON_BPF_MOUNTLESS_BPF_H

#include "bpf/core/decide.bpf.h"
#include "bpf/core/kernel.bpf.h"

#define SEARCH_MOUNTS 64   /* of one file system in the execution's namespace */
#define SEARCH_LENGTH 8192 /* of one file system in all namespaces */

static long mount_search_step(__u32 index, void *context)
{
	struct mount_search *search = context;
	__u64 mount;

	search->at = next_mount_link(search->at, search->list);
	if (!search->at || search->at == search->list)
		return 1;
	mount = mount_of_link(search->at);
	if (read_u64(FIELD(struct mount, mount, mnt_ns)) != search->namespace)
		return 0;
	search->found = mount;
	/* Mounts in a list begin with the oldest, mounts in a chain end with it. */
	return !search->whole || MOUNTS_IN_LIST ||
	       read_u64(FIELD(struct mount, mount, mnt.mnt_root)) == search->whole;
}

static __always_inline void mount_search_begin(struct mount_search *search, __u64 super_block,
					       __u64 namespace)
{
	search->list = first_mount_link(super_block);
	search->at = search->list;
	search->namespace = namespace;
	search->whole = 0;
}

/*
 * Finds the next mount in the namespace: search->found. Its argument is on the caller's stack,
 * because bpf_loop() accepts no other memory.
 */
static __always_inline void mount_search_next(struct mount_search *search)
{
	search->found = 0;
	bpf_loop(SEARCH_LENGTH, mount_search_step, search, 0);
}

/* Adds the result of one more name. False: the remaining names cannot change the result. */
static __noinline bool add_name(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct mountless_search *search = &walk->search;
	const struct answer *a = &walk->answer;

	if (a->reason == REASON_ELSEWHERE)
		return true;
	search->names++;
	search->best = search->mounts.found;
	if (a->reason == CORDON_REASON_UNRESOLVED || a->reason == CORDON_REASON_FOREIGN) {
		search->reason = a->reason;
		return false;
	}
	/* An exception counts for its own name only. */
	search->allow |= a->verdict.allow & CORDON_ALL_RIGHTS;
	return !(verdict_denied(&a->verdict) & walk->wanted);
}

static long ask_by_mount(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	struct mountless_search *search = &walk->search;
	struct mount_search mounts = search->mounts;
	bool again;

	mount_search_next(&mounts);
	search->mounts = mounts;
	again = mounts.found == 0;
	if (again) {
		search->complete = search->mounts.at == search->mounts.list;
		/* If denied, check the name for the event once more. */
		if (!search->names || !(walk->wanted & ~search->allow))
			return 1;
		search->mounts.found = search->best;
	} else if (index >= SEARCH_MOUNTS) {
		return 1;
	}
	put_question(walk, search->dentry, FIELD(struct mount, search->mounts.found, mnt),
		     search->question);
	walk->leaf.directory = 0;
	ask(s);
	if (!again && !add_name(s))
		search->complete = again = true;
	return again;
}

static long search_attempt(__u32 attempt, void *context)
{
	const struct subject *s = context;
	struct mountless_search *search = &s->walk->search;

	search->sequence = mount_sequence();
	search->mounts.at = search->mounts.list;
	search->complete = 0;
	search->names = 0;
	search->reason = 0;
	search->allow = 0;
	bpf_loop(SEARCH_MOUNTS + 1, ask_by_mount, context, 0);
	/* 0: it cannot be read, see sequence_busy(). */
	search->settled = search->sequence && !(search->sequence & 1) &&
			  mount_sequence() == search->sequence;
	s->walk->ended = search->settled;
	if (!search->settled)
		note_disturbed(s->walk, search->sequence);
	barrier();
	return s->walk->ended & 1;
}

/*
 * Stores the combined result of all names in walk->answer, and keeps in the walk the name for the
 * event.
 */
static __noinline void conclude_search(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct mountless_search *search = &walk->search;
	struct answer *a = &walk->answer;

	if (!search->settled || !search->complete || !search->names)
		search->reason = CORDON_REASON_UNRESOLVED;
	if (search->reason) {
		answer_unnamed(a, walk->wanted, search->reason);
		return;
	}
	/* A denial ended the search, with the name that was checked last. */
	a->verdict.allow |= search->allow;
	a->missing = verdict_missing(&a->verdict, walk->wanted);
}

/* For ask_whole_body() with NAME_MOUNTLESS. Not for file systems that an execution has made. */
static __always_inline void ask_mountless(const struct subject *s, __u64 super_block)
{
	struct walk *walk = s->walk;
	struct mountless_search *search = &walk->search;
	__u32 question = NAME_QUESTION(walk->wanted, walk->flags | NAME_MAYBE);

	search->dentry = walk->dentry;
	mount_search_begin(&search->mounts, super_block, s->execution->mount_namespace);
	search->question = question;
	search->settled = 0;
	/* Set it even if no name is checked, because events use it. */
	put_question(walk, walk->dentry, 0, question);
	answer_clear(&walk->answer, walk->wanted);
	bpf_loop(NAME_ATTEMPTS, search_attempt, (void *)s, 0);
	conclude_search(s);
}

static __always_inline int decide_dentry(struct subject *s, __u32 operation, __u32 rights)
{
	__s32 error = error_of_change(s);

	/* Changes of times are not logged, because every read and write causes them. */
	if (operation == CORDON_OP_SETXATTR)
		return decide_change(s, operation, error, rights);
	return decide_path(s, operation, error);
}

/* Checks `rights` on the object behind a dentry, by all its names. `flags`: NAME_LISTING, or 0. */
static __always_inline int decide_mountless(struct subject *s, __u32 operation,
					    const struct dentry *dentry, __u32 rights, __u32 flags)
{
	const struct super_block *super_block = dentry->d_sb;

	if (!subject_need_walk(s))
		return deny_unasked(s, operation);
	if (super_block->s_magic == PROC_SUPER_MAGIC)
		flags |= NAME_PROC;
	/* Set it even if no name is checked, because events use it. */
	put_question(s->walk, (__u64)dentry, 0, NAME_QUESTION(rights, flags | NAME_MOUNTLESS));
	begin_attempts(s->walk);
	ask_whole(APART(s));
	return decide_dentry(s, operation, rights);
}

#endif
