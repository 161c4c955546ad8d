/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Path aliases: the other names of an object, if its file system is mounted more than once in the
 * execution's namespace (bind mounts). Each mount that the object is below gives it a name.
 *
 * The name in the access must grant the requested rights. A deny rule that matches any alias denies
 * them. A rule that denies reads of "/srv/ *" (without the blank) is about the objects there.
 * Another path to one of them does not make it another object. Aliases never grant anything.
 *
 * A file system that is mounted once costs one comparison per path walk, and nothing for a name in
 * a cached directory. A directory is not cached if it, or an object in it, has an alias ([D8] in
 * directory_cache.bpf.h). Any mount changes mount_lock, and then all mounts are examined again.
 *
 * All names are read under one sequence of renames and mounts. Otherwise a moving object could be
 * checked by names that it never had at the same time. Fail closed: a check that renames disturb
 * too long is denied, and so is one with too many mounts.
 */
#ifndef CORDON_BPF_EVERY_NAME_BPF_H
#define CORDON_BPF_EVERY_NAME_BPF_H

#include "bpf/core/below.bpf.h"
#include "bpf/core/mountless.bpf.h"

#define OTHER_NAMES_TURNS (1u << 20) /* note_disturbed() ends it earlier */
/*
 * SEARCH_LENGTH mounts in each iteration: on a host with many containers, one file system may have
 * that many mounts in all namespaces.
 */
#define SEARCH_TURNS 64

/* Searches for a second mount. If there is none, remembers this until mounts change. */
static __noinline bool has_one_mount(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct other_names *others = &walk->others;
	__u64 super_block = super_block_of(walk->dentry);
	struct mount_search mounts = {};

	mount_search_begin(&mounts, super_block, s->execution->mount_namespace);
	mount_search_next(&mounts);
	if (mounts.found)
		mount_search_next(&mounts);
	if (mounts.found || mounts.at != mounts.list)
		return false;
	others->once = super_block;
	others->once_mounts = (__u32)walk->sequence;
	return true;
}

#define ALL_SEEN 1ull /* not a valid address */

/*
 * The next mount of the file system, other than the one in the access. 0: none found; the search is
 * complete if others->at is ALL_SEEN.
 */
static __noinline __u64 next_other_mount(const struct subject *s)
{
	struct other_names *others = &s->walk->others;
	struct mount_search mounts = {};

	mount_search_begin(&mounts, super_block_of(s->walk->dentry), s->execution->mount_namespace);
	if (others->at)
		mounts.at = others->at;
	mount_search_next(&mounts);
	if (mounts.found && mounts.found == mount_of(others->used))
		mount_search_next(&mounts);
	others->at = mounts.at == mounts.list ? ALL_SEEN : mounts.at;
	return mounts.found;
}

/* Is `dentry` the directory `above`, or below it? */
struct way_up {
	__u64 at; /* struct dentry; 0: the top was reached */
	__u64 above;
};

static long climb_to(__u32 index, void *context)
{
	struct way_up *way = context;
	__u64 parent;

	if (way->at == way->above)
		return 1;
	parent = read_u64(FIELD(struct dentry, way->at, d_parent));
	if (!parent || parent == way->at) {
		way->at = 0;
		return 1;
	}
	way->at = parent;
	return 0;
}

static __always_inline bool is_below(__u64 dentry, __u64 above)
{
	struct way_up way = {.at = dentry, .above = above};

	bpf_loop(CORDON_MAX_COMPONENTS + 1, climb_to, &way, 0);
	/* Too deep to follow counts as below: the check by name then fails. */
	return way.at;
}

/*
 * Is a device node mounted over this name, to hide it? Containers mount /dev/null over /proc/kcore,
 * for example. Deny rules for the name are about the hidden object.
 */
static __always_inline bool is_mask(__u64 root)
{
	__u64 inode = read_u64(FIELD(struct dentry, root, d_inode));

	return (read_u32(FIELD(struct inode, inode, i_mode)) & S_IFMT) == S_IFCHR;
}

/* Prevents caching of the directory, because an object in it has an alias ([D8]). */
static __always_inline void forget_directory(struct walk *walk)
{
	if (walk->leaf.directory)
		directory_entry(walk)->dentry = 0;
	walk->leaf.directory = 0;
}

/*
 * Does the mount give the object a name? If not, but a sibling of the object has a name by it, the
 * directory is not cached ([D8]).
 */
static __always_inline bool gives_name(struct walk *walk, __u64 mount)
{
	__u64 root = read_u64(FIELD(struct mount, mount, mnt.mnt_root));

	if (is_below(walk->dentry, root))
		return !is_mask(root);
	if (walk->leaf.directory &&
	    read_u64(FIELD(struct dentry, root, d_parent)) == walk->leaf.directory)
		forget_directory(walk);
	return false;
}

static __always_inline void others_begin(struct walk *walk)
{
	struct other_names *others = &walk->others;

	others->at = 0;
	others->sequence = walk->sequence;
	others->below = 0;
	others->deny = 0;
	others->may_deny = 0;
	others->spoken = 0;
}

static __always_inline __u64 sum_below(const struct walk *walk)
{
	__u64 sum = walk->vfsmount;

#pragma unroll
	for (__u32 n = 0; n < NAME_RUNS; n++)
		sum = mix(sum, walk->finals[n]);
	return sum;
}

/*
 * Adds the rights that another name denies. True: the result is final, whatever the remaining names
 * deny.
 */
static __noinline bool add_other_name(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct other_names *others = &walk->others;
	struct answer *a = &walk->answer;

	if (a->reason == REASON_ELSEWHERE)
		return false;
	if (a->reason == CORDON_REASON_UNRESOLVED || a->reason == CORDON_REASON_FOREIGN)
		return true;
	/* An exception holds for the name that it lists. */
	others->deny |= verdict_denied(&a->verdict);
	others->may_deny |= a->verdict.may_deny;
	if (walk->flags & NAME_TREE)
		others->below = mix(others->below, sum_below(walk));
	if (walk->flags & NAME_LINK)
		note_spoken_below(s);
	a->missing = walk->wanted & verdict_denied(&a->verdict);
	return a->missing;
}

/*
 * Called after the name in the access was checked again. True: the result is final, with the
 * denials of the other names. False: a move disturbed the check, and it starts again.
 */
static __noinline bool conclude_other_names(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct other_names *others = &walk->others;
	struct answer *a = &walk->answer;

	if (a->missing)
		return true;
	if (walk->sequence != others->sequence) {
		note_disturbed(walk, walk->sequence);
		others_begin(walk);
		if (walk->ended)
			answer_unnamed(a, walk->wanted, CORDON_REASON_UNRESOLVED);
		return walk->ended;
	}
	a->verdict.deny |= others->deny | others->deny << CORDON_EXCEPT_SHIFT;
	a->verdict.may_deny |= others->may_deny;
	if (walk->flags & NAME_SOURCE) {
		walk->from = *a;
		others->from_below = others->below;
	}
	return true;
}

static long ask_other_name(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	struct other_names *others = &walk->others;
	__u64 mount = next_other_mount(s);
	bool complete = others->at == ALL_SEEN;

	if (mount) {
		if (!gives_name(walk, mount))
			return 0;
		forget_directory(walk);
		walk->vfsmount = FIELD(struct mount, mount, mnt);
		walk->flags |= NAME_MAYBE;
	} else if (!complete && others->at && index < SEARCH_TURNS) {
		return 0;
	} else if (!complete) {
		forget_directory(walk);
		answer_unnamed(&walk->answer, walk->wanted, CORDON_REASON_UNRESOLVED);
		return 1;
	} else if (walk->vfsmount == others->used && name_sequence() == others->sequence) {
		return 1;
	} else {
		walk->vfsmount = others->used;
		walk->flags &= ~NAME_MAYBE;
	}
	/* Start at the root, because that records the sequence of renames and mounts. */
	walk->leaf.directory = 0;
	ask(s);
	/* Shows the verifier that the value is 0 or 1. */
	return (walk->vfsmount == others->used ? conclude_other_names(s) : add_other_name(s)) & 1;
}

/* Checks the names that other mounts of the file system give the object, if there are any. */
__noinline int ask_by_others(APART_ARGUMENTS)
{
	struct subject s;

	if (!walk || !execution || !page)
		return 0;
	if (!subject_again(&s, walk, execution, page, policy, label)) {
		answer_unnamed(&walk->answer, walk->wanted, CORDON_REASON_UNRESOLVED);
		return 0;
	}
	if (has_one_mount(&s))
		return 0;
	if (walk->answer.missing) {
		forget_directory(walk);
		return 0;
	}
	walk->others.used = walk->vfsmount;
	others_begin(walk);
	bpf_loop(OTHER_NAMES_TURNS, ask_other_name, &s, 0);
	return 0;
}

/* For ask_whole_body(), after the check by the name in the access. */
static __always_inline void ask_other_names(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct other_names *others = &walk->others;

	/* [D8] Objects in a cached directory have no alias. */
	if (walk->partial || is_for_the_record(walk))
		return;
	others->below = 0;
	others->spoken = 0;
	if (walk->flags & NAME_SOURCE)
		others->from_below = 0;
	if (!is_mounted_once(walk))
		ask_by_others(APART(s));
}

#endif
