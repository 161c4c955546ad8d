/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The other names of an object: where its file system is mounted more than once in the execution's
 * namespace (bind mounts), each mount that the object lies below gives it one.
 *
 * What is asked for has to be granted by the name that was used. What a rule denies is denied by
 * whatever name: "nobody reads /srv/ *" (without the blank) is said of what stands there, and a
 * second way to it is not another object. A name that the execution could only have by being given
 * another mount grants nothing here.
 *
 * A file system that is mounted once costs one comparison for each name that is climbed, and none
 * for a name in a directory that is remembered; no directory is remembered that has another name,
 * or something in it that has. A mount anywhere changes mount_lock, and all is looked at again.
 *
 * All names are read under one state of renames and mounts, as one name is: else an object that
 * moves meanwhile would be asked about by names that it never had together. Fail closed: what does
 * not come to rest, and more mounts than there is room for, is denied.
 */
#ifndef CORDON_BPF_EVERY_NAME_BPF_H
#define CORDON_BPF_EVERY_NAME_BPF_H

#include "bpf/core/below.bpf.h"
#include "bpf/core/mountless.bpf.h"

#define OTHER_NAMES_TURNS (1u << 20) /* note_disturbed() ends it long before */
/*
 * Of SEARCH_LENGTH mounts each: a host of many containers has that many of one file system in all
 * namespaces.
 */
#define SEARCH_TURNS 64

/* Looks for one, and remembers that there is none until mounts change. */
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

#define ALL_SEEN 1ull /* no address */

/*
 * The next mount of the file system but for the one that was used. 0: there is none; others->at
 * says whether all of them were seen.
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
	/* Deeper than can be followed: the question itself will say so. */
	return way.at;
}

/*
 * A device's node mounted over another name says "nothing here" (containers have /dev/null over
 * /proc/kcore): what is denied by that name is what stood there before.
 */
static __always_inline bool is_mask(__u64 root)
{
	__u64 inode = read_u64(FIELD(struct dentry, root, d_inode));

	return (read_u32(FIELD(struct inode, inode, i_mode)) & S_IFMT) == S_IFCHR;
}

/* The directory is not to be remembered: of what is in it, something has another name. */
static __always_inline void forget_directory(struct walk *walk)
{
	if (walk->leaf.directory)
		directory_entry(walk)->dentry = 0;
	walk->leaf.directory = 0;
}

/*
 * Does a mount give the object a name? If not, but something beside it has one by the mount, the
 * directory that they stand in is not remembered.
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

/* What another name denies. true: the answer stands, whatever the names that remain say. */
static __noinline bool add_other_name(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct other_names *others = &walk->others;
	struct answer *a = &walk->answer;

	if (a->reason == REASON_ELSEWHERE)
		return false;
	if (a->reason == CORDON_REASON_UNRESOLVED || a->reason == CORDON_REASON_FOREIGN)
		return true;
	others->deny |= a->verdict.deny;
	others->may_deny |= a->verdict.may_deny;
	if (walk->flags & NAME_TREE)
		others->below = mix(others->below, sum_below(walk));
	if (walk->flags & NAME_LINK)
		note_spoken_below(s);
	a->missing = walk->wanted & a->verdict.deny;
	return a->missing;
}

/*
 * The name that was used has been asked about once more, so that the walk holds it again. true:
 * with what the others deny, it stands; false: something moved meanwhile, and all are asked again.
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
	a->verdict.deny |= others->deny;
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
	/* Asked from the root, so that it says under which state of renames and mounts. */
	walk->leaf.directory = 0;
	ask(s);
	/* The verifier wants to see that it is 0 or 1. */
	return (walk->vfsmount == others->used ? conclude_other_names(s) : add_other_name(s)) & 1;
}

/* By the names that another mount of the file system gives the object, if there is one. */
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

/* For ask_whole_body(), after the question was put by the name that was used. */
static __always_inline void ask_other_names(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct other_names *others = &walk->others;

	/* What stands in a directory that is remembered has no other name. */
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
