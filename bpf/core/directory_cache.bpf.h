/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * States of the automaton at directories asked about before, so that a name in one of them costs a
 * run over its last component only.
 *
 * Why a hit is right. An entry stands for a directory's dentry, its inode and the mount that it was
 * reached by, and holds what the runs over its whole name came to. That can change only
 *
 * - when the directory or one above it gets another name. Where all that gives it one passes
 *   vfs_rename() (moves_by_hook()), such moves are counted before they begin
 *   (hooks/directories.bpf.h), and the count is compared: renames of files do not matter. A move
 *   that had begun before the climb is seen by the lock that it is done under
 *   (is_changed_inside()). Elsewhere rename_lock is compared, which every d_move() and d_exchange()
 *   moves (fs/dcache.c);
 * - when the mount tree changes: every change moves mount_lock (fs/namespace.c), which is compared;
 * - when the policy is swapped: its reference is compared. Anchors and the mount namespace of an
 *   execution never change, and the cache is the task's own;
 * - when the memory of the dentry or of the inode is given to another directory. Inodes of
 *   directories are counted as they are freed, by the same count: none was freed since, so this
 *   inode is the same directory. A dentry at the same address may have been made anew for it, but
 *   of a directory there is one at a time, and it has the same name in the same directory, as no
 *   move took place. File systems whose names change behind the kernel's back say so with
 *   DCACHE_OP_REVALIDATE; no directory on one of them is remembered. What lies above the mount is
 *   pinned by it.
 *
 * That nothing in the directory has another name by another mount (every_name.bpf.h) is remembered
 * with it: a file that is such a mount may be moved there, so that renames are not only counted
 * unless the file system is mounted once. The last component is read anew, and its dentry's
 * sequence count says that it was not moved meanwhile.
 *
 * All of it is read before the counts are, so a change that comes later is a later access's.
 * And only grants are taken from here: what would be denied is asked again from the root.
 */
#ifndef CORDON_BPF_DIRECTORY_CACHE_BPF_H
#define CORDON_BPF_DIRECTORY_CACHE_BPF_H

#include "bpf/core/climb.bpf.h"

/*
 * Of an entry: rename_lock is even when nothing moves. Above it stands of how many components the
 * directory's name is: what is found from the one above is not to be deeper than what is climbed.
 */
#define RENAMES_COUNTED	       1u
#define COUNTED_AT(depth)      ((__u32)(depth) << 1 | RENAMES_COUNTED)
#define COUNTED_DEPTH(renames) ((renames) >> 1)

/* What the entry for a question's directory is found by, and the last component itself. */
static __always_inline void note_leaf(struct walk *walk, const struct dentry *dentry)
{
	struct leaf *leaf = &walk->leaf;
	const struct dentry *parent;

	leaf->sequence = dentry->d_seq.seqcount.sequence;
	order();
	parent = dentry->d_parent;
	leaf->directory = (__u64)parent;
	leaf->directory_inode = (__u64)parent->d_inode;
	leaf->inode = (__u64)dentry->d_inode;
	leaf->name = (__u64)dentry->d_name.name;
	leaf->length = dentry->d_name.len;
}

static __always_inline __u32 dentry_sequence(__u64 dentry)
{
	__u32 sequence;

	order();
	sequence = read_u32(FIELD(struct dentry, dentry, d_seq.seqcount.sequence));
	order();
	return sequence;
}

/* The same where only an address is known. */
static __always_inline void note_leaf_at(struct walk *walk, __u64 dentry)
{
	struct leaf *leaf = &walk->leaf;
	const struct dentry_link *link = &walk->link;

	leaf->directory = 0;
	leaf->sequence = dentry_sequence(dentry);
	if (!read_dentry(dentry, &walk->link))
		return;
	leaf->directory_inode = read_u64(FIELD(struct dentry, link->parent, d_inode));
	leaf->inode = link->inode;
	leaf->name = link->name;
	leaf->length = link->length;
	leaf->directory = link->parent;
}

/* Odd while the dentry is moved. */
static __always_inline bool leaf_holds(const struct walk *walk)
{
	return !(walk->leaf.sequence & 1) && dentry_sequence(walk->dentry) == walk->leaf.sequence;
}

/* A count that high is no count: nothing is remembered by it, see stop_remembering(). */
#define NOTHING_REMEMBERED (1ull << 63)

static __always_inline __u64 directory_changes(void)
{
	__u32 key = 0;
	__u64 *changes = bpf_map_lookup_elem(&changed_directories, &key), value;

	/* After the addresses and names whose meaning it bears on were had. */
	order();
	value = changes ? *(volatile __u64 *)changes : NOTHING_REMEMBERED;
	order();
	return value;
}

/* Everything else has a meaning of its own, or is asked rarely. */
static __always_inline bool is_cacheable(const struct subject *s)
{
	return !s->spare && !(s->walk->flags & ~(NAME_LISTING | NAME_SOURCE)) && s->walk->wanted;
}

static __always_inline struct directory *entry_of(struct walk *walk, __u64 directory)
{
	__u64 hash = (directory ^ walk->vfsmount << 1) * 0x9e3779b97f4a7c15ull;

	return &walk->directories.entries[hash >> (64 - DIRECTORY_CACHE_SHIFT)];
}

static __always_inline struct directory *directory_entry(struct walk *walk)
{
	return entry_of(walk, walk->leaf.directory);
}

/* Runs over the last components alone, from the states that a directory's name came to. */
static __always_inline void directory_resume(const struct subject *s, const struct directory *entry,
					     __u32 components)
{
	struct walk *walk = s->walk;
	__u32 state[DIRECTORY_STATES] = {entry->state[0], entry->state[1], entry->state[2],
					 entry->state[3]};

	runs_prepare(s);
	walk->answer.verdict.allow = entry->allow;
	walk->answer.verdict.deny = entry->deny;
	walk->noted.allow = entry->allow;
	walk->noted.deny = entry->deny;
	run_add(walk, 0, state[0], components);
	run_add(walk, 0, state[1], components);
	run_add(walk, 0, state[2], components);
	run_add(walk, 0, state[3], components);
	walk->next = components;
	walk->depth = components;
}

/*
 * The directory is not remembered: is the one that it stands in? All of it is read under one state
 * of renames and mounts, as in a climb, for it is remembered thereafter.
 */
static __always_inline bool directory_recall_above(const struct subject *s)
{
	struct walk *walk = s->walk;
	const struct directory_cache *cache = &walk->directories;
	const struct leaf *leaf = &walk->leaf;
	struct dentry_link *link = &walk->link;
	const struct directory *entry;
	__u64 above;

	walk->changes = cache->changes;
	walk->unstable = 0;
	walk->sequence = name_sequence();
	if (sequence_busy(walk->sequence) || (__u32)walk->sequence != cache->mounts ||
	    !read_dentry(leaf->directory, link) || link->inode != leaf->directory_inode ||
	    (link->flags & DCACHE_OP_REVALIDATE) || is_anchor(s, link->inode))
		return false;
	entry = entry_of(walk, link->parent);
	above = read_u64(FIELD(struct dentry, link->parent, d_inode));
	if (entry->dentry != link->parent || entry->mount != walk->vfsmount ||
	    entry->inode != above || !(entry->renames & RENAMES_COUNTED) ||
	    COUNTED_DEPTH(entry->renames) + 2 > CORDON_MAX_COMPONENTS || is_changed_inside(above))
		return false;
	walk->above.renames = entry->renames;
	directory_resume(s, entry, 2);
	component_set(walk, 0, leaf->name, leaf->length);
	component_set(walk, 1, link->name, link->length);
	return true;
}

/* Sets up the runs from a directory on. The caller asks recall_holds() when they are done. */
static __always_inline enum recall directory_recall(const struct subject *s)
{
	struct walk *walk = s->walk;
	const struct directory_cache *cache = &walk->directories;
	const struct directory *entry = directory_entry(walk);
	const struct leaf *leaf = &walk->leaf;

	if (!leaf->directory || cache->policy != s->policy_ref || walk->dentry == leaf->directory ||
	    is_anchor(s, leaf->inode))
		return RECALL_NONE;
	if (entry->dentry != leaf->directory || entry->mount != walk->vfsmount ||
	    entry->inode != leaf->directory_inode)
		return directory_recall_above(s) ? RECALL_ABOVE : RECALL_NONE;
	directory_resume(s, entry, 1);
	component_set(walk, 0, leaf->name, leaf->length);
	walk->sequence = (__u64)entry->renames << 32 | cache->mounts;
	return entry->renames & RENAMES_COUNTED ? RECALL_COUNTED : RECALL_COMPARED;
}

/* Nothing has changed since the entry was made, nor the last component since it was read. */
static __always_inline bool recall_holds(const struct walk *walk)
{
	const struct directory_cache *cache = &walk->directories;

	if (directory_changes() != cache->changes)
		return false;
	if (walk->partial != RECALL_COMPARED && !leaf_holds(walk))
		return false;
	if (walk->partial == RECALL_COUNTED)
		return mount_sequence() == cache->mounts;
	return name_sequence() == walk->sequence;
}

static __always_inline void directories_forget(struct directory_cache *cache)
{
#pragma unroll
	for (__u32 i = 0; i < DIRECTORY_CACHE_ENTRIES; i++)
		cache->entries[i].dentry = 0;
}

/* After a question that came to rest: is it known that there is no second mount? */
static __always_inline bool is_mounted_once(const struct walk *walk)
{
	const struct other_names *others = &walk->others;
	__u64 super_block = super_block_of(walk->dentry);

	return super_block && super_block == others->once &&
	       others->once_mounts == (__u32)walk->sequence;
}

/*
 * A run that is over is kept as what it says. The first are the directory's, the others those of
 * `above`.
 */
static long settle_state(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	struct directory *noted = index < DIRECTORY_STATES ? &walk->noted : &walk->above;
	__u32 *state = &noted->state[index & (DIRECTORY_STATES - 1)];
	const struct cordon_verdict *outcome;
	const struct cordon_final *final;

	if (!(*state & CORDON_ABSORBING) || *state == CORDON_STATE_DEAD)
		return 0;
	if (*state == CORDON_STATE_BROKEN || !tables_outcome(s, *state, &outcome, &final)) {
		walk->keep = 0;
		return 1;
	}
	noted->allow |= outcome->allow;
	noted->deny |= outcome->deny;
	*state = CORDON_STATE_DEAD;
	return 0;
}

static __always_inline void entry_set(struct walk *walk, const struct directory *noted,
				      __u32 renames)
{
	struct directory *entry = entry_of(walk, noted->dentry);

	*entry = *noted;
	entry->mount = walk->vfsmount;
	entry->renames = renames;
}

/* After a climb, or an attempt from the directory above, that nothing disturbed. */
static __always_inline void directory_remember(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct directory_cache *cache = &walk->directories;
	bool counted = !(walk->unstable & UNSTABLE_MOVES) && is_mounted_once(walk);
	/* A run that begins at the directory says nothing about others beside it. */
	bool above = counted && walk->partial == RECALL_NONE && walk->above.dentry &&
		     !is_anchor(s, walk->leaf.directory_inode);
	__u32 depth;

	if (walk->changes & NOTHING_REMEMBERED)
		return;
	bpf_loop(above ? 2 * DIRECTORY_STATES : DIRECTORY_STATES, settle_state, (void *)s, 0);
	if (!walk->keep)
		return;
	if (cache->policy != s->policy_ref || cache->mounts != (__u32)walk->sequence ||
	    cache->changes != walk->changes) {
		directories_forget(cache);
		cache->policy = s->policy_ref;
		cache->mounts = (__u32)walk->sequence;
		cache->changes = walk->changes;
	}
	depth = walk->partial == RECALL_ABOVE ? COUNTED_DEPTH(walk->above.renames) + 1
					      : walk->depth - 1;
	if (above)
		entry_set(walk, &walk->above, COUNTED_AT(depth - 1));
	walk->noted.dentry = walk->leaf.directory;
	walk->noted.inode = walk->leaf.directory_inode;
	entry_set(walk, &walk->noted, counted ? COUNTED_AT(depth) : walk->sequence >> 32);
}

#endif
