/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * States of the automaton at directories asked about before, so that a name in one of them costs a
 * run over its last component only.
 *
 * Why a hit is right. An entry stands for a directory's dentry, its inode and the mount that it was
 * reached by, and holds what the runs over its whole name came to. That can change only
 *
 * - when the directory or one above it gets another name: every d_move() and d_exchange() moves
 *   rename_lock (fs/dcache.c), which is compared;
 * - when the mount tree changes: every change moves mount_lock (fs/namespace.c), which is compared;
 * - when the policy is swapped: its reference is compared. Anchors and the mount namespace of an
 *   execution never change, and the cache is the task's own;
 * - when the memory of the dentry or of the inode is given to another directory. Inodes of
 *   directories are counted as they are freed (hooks/names.bpf.h), and the count is compared: none
 *   was freed since, so this inode is the same directory. A dentry at the same address may have
 *   been made anew for it, but of a directory there is one at a time, and it has the same name in
 *   the same directory, as no rename took place. File systems whose names change behind the
 *   kernel's back say so with DCACHE_OP_REVALIDATE; no directory on one of them is remembered. What
 *   lies above the mount is pinned by it.
 *
 * All of it is read before the two locks are, so a change that comes later is a later access's.
 * And only grants are taken from here: what would be denied is asked again from the root.
 */
#ifndef CORDON_BPF_DIRECTORY_CACHE_BPF_H
#define CORDON_BPF_DIRECTORY_CACHE_BPF_H

#include "bpf/core/climb.bpf.h"

/* What the entry for a question's directory is found by, and the last component itself. */
static __always_inline void note_leaf(struct walk *walk, const struct dentry *dentry)
{
	const struct dentry *parent = dentry->d_parent;
	struct leaf *leaf = &walk->leaf;

	leaf->directory = (__u64)parent;
	leaf->directory_inode = (__u64)parent->d_inode;
	leaf->inode = (__u64)dentry->d_inode;
	leaf->name = (__u64)dentry->d_name.name;
	leaf->length = dentry->d_name.len;
}

/* The same where only an address is known. */
static __always_inline void note_leaf_at(struct walk *walk, __u64 dentry)
{
	struct leaf *leaf = &walk->leaf;
	const struct dentry_link *link = &walk->link;

	leaf->directory = 0;
	if (!read_dentry(dentry, &walk->link))
		return;
	leaf->directory_inode = read_u64(FIELD(struct dentry, link->parent, d_inode));
	leaf->inode = link->inode;
	leaf->name = link->name;
	leaf->length = link->length;
	leaf->directory = link->parent;
}

static __always_inline __u64 directories_freed(void)
{
	__u32 key = 0;
	__u64 *freed = bpf_map_lookup_elem(&freed_directories, &key);

	/* After the address whose meaning it bears on was had. */
	order();
	return freed ? *(volatile __u64 *)freed : 0;
}

/* Everything else has a meaning of its own, or is asked rarely. */
static __always_inline bool is_cacheable(const struct subject *s)
{
	return !s->spare && !(s->walk->flags & ~NAME_LISTING) && s->walk->wanted;
}

static __always_inline struct directory *directory_entry(struct walk *walk)
{
	__u64 hash = (walk->leaf.directory ^ walk->vfsmount << 1) * 0x9e3779b97f4a7c15ull;

	return &walk->directories.entries[hash >> (64 - DIRECTORY_CACHE_SHIFT)];
}

/* Runs over the last component alone, from the states that a directory's name came to. */
static __always_inline void directory_resume(const struct subject *s, const struct directory *entry)
{
	struct walk *walk = s->walk;
	__u32 state[DIRECTORY_STATES] = {entry->state[0], entry->state[1], entry->state[2],
					 entry->state[3]};

	runs_prepare(s);
	walk->answer.verdict.allow = entry->allow;
	walk->answer.verdict.deny = entry->deny;
	run_add(walk, 0, state[0], 1);
	run_add(walk, 0, state[1], 1);
	run_add(walk, 0, state[2], 1);
	run_add(walk, 0, state[3], 1);
	walk->next = 1;
	walk->depth = 1;
}

/* Sets up the runs from the directory on. The caller compares the sequence when they are done. */
static __always_inline bool directory_recall(const struct subject *s)
{
	struct walk *walk = s->walk;
	const struct directory_cache *cache = &walk->directories;
	const struct directory *entry = directory_entry(walk);
	const struct leaf *leaf = &walk->leaf;

	if (!leaf->directory || cache->policy != s->policy_ref ||
	    entry->dentry != leaf->directory || entry->mount != walk->vfsmount ||
	    entry->inode != leaf->directory_inode || cache->freed != directories_freed() ||
	    walk->dentry == leaf->directory || is_anchor(s, leaf->inode))
		return false;
	directory_resume(s, entry);
	walk->components[0].name = leaf->name;
	walk->components[0].length = leaf->length;
	walk->components[0].self = 0;
	return true;
}

static __always_inline void directories_forget(struct directory_cache *cache)
{
#pragma unroll
	for (__u32 i = 0; i < DIRECTORY_CACHE_ENTRIES; i++)
		cache->entries[i].dentry = 0;
}

/* A run that is over is kept as what it says. */
static long settle_state(__u32 index, void *context)
{
	const struct subject *s = context;
	struct directory *noted = &s->walk->noted;
	__u32 *state = &noted->state[index & (DIRECTORY_STATES - 1)];
	const struct cordon_verdict *outcome;
	const struct cordon_final *final;

	if (!(*state & CORDON_ABSORBING) || *state == CORDON_STATE_DEAD)
		return 0;
	if (*state == CORDON_STATE_BROKEN || !tables_outcome(s, *state, &outcome, &final)) {
		s->walk->keep = 0;
		return 1;
	}
	noted->allow |= outcome->allow;
	noted->deny |= outcome->deny;
	*state = CORDON_STATE_DEAD;
	return 0;
}

/* A count that high is no count: tests set it so that nothing is remembered. */
#define NOTHING_REMEMBERED (1ull << 63)

/* After a climb that nothing disturbed. */
static __always_inline void directory_remember(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct directory_cache *cache = &walk->directories;
	struct directory *entry = directory_entry(walk);

	if (walk->freed & NOTHING_REMEMBERED)
		return;
	walk->noted.allow = 0;
	walk->noted.deny = 0;
	bpf_loop(DIRECTORY_STATES, settle_state, (void *)s, 0);
	if (!walk->keep)
		return;
	if (cache->policy != s->policy_ref || cache->sequence != walk->sequence ||
	    cache->freed != walk->freed) {
		directories_forget(cache);
		cache->policy = s->policy_ref;
		cache->sequence = walk->sequence;
		cache->freed = walk->freed;
	}
	*entry = walk->noted;
	entry->dentry = walk->leaf.directory;
	entry->mount = walk->vfsmount;
	entry->inode = walk->leaf.directory_inode;
}

#endif
