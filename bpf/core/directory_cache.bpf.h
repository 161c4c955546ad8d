/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * States of the automaton at directories that the task used before, so that a name in one of them
 * costs a run over its last component only.
 *
 * Why a hit is right. An entry holds the addresses of a directory's dentry, of its inode and of the
 * mount that it was reached by, and the states after the directory's whole name. Each invariant
 * names a change that could make the entry wrong, and the comparison that notices it.
 *
 * [D1] Moves. The directory's name changes only if this directory or one above it moves. On file
 *     systems that move directories by vfs_rename() alone (moves_by_hook()), the hook counts each
 *     move before it begins (hooks/directories.bpf.h), and the count is compared. Renames of files
 *     do not count. A move that began before the climb is noticed by the lock that it holds
 *     (is_changed_inside()). On other file systems rename_lock is compared, which each d_move()
 *     and d_exchange() changes (fs/dcache.c).
 * [D2] Mounts. Each change of the mount tree changes mount_lock (fs/namespace.c), which is
 *     compared. A mount pins its mount point and all directories above.
 * [D3] Policy. Its reference is compared. Bound directories and the mount namespace of an execution
 *     never change, and the cache belongs to one task.
 * [D4] The inode's address. It can belong to another directory only after the kernel has freed the
 *     inode. The hook counts that before the memory can be used again, at the place in
 *     freed_directories that the address determines. The entry holds the count of that place,
 *     which has 64 bits and never wraps. It was read while the last component's dentry pinned the
 *     inode (directories_note_freed()), so that each later free is a higher count. The caller of
 *     each hook holds that dentry: no hook here runs in an RCU walk (inode_permission and
 *     inode_follow_link do). Equal counts mean the same inode. Another address at the same place
 *     can only drop the entry.
 * [D5] The dentry's address. A new dentry at the address may belong to the same inode. A directory
 *     has one dentry at a time, with the same name in the same directory because of [D1].
 * [D6] Directories above, whose inodes are not compared. The directory's dentry pins them. If the
 *     kernel drops that dentry and keeps the inode, it may free them and read them again, with the
 *     same names because of [D1]. It cannot remove them, because none of them is empty unless this
 *     directory was removed first. A removed directory has no files and gets none (S_DEAD).
 * [D7] Names that a server or a driver changes. Their file systems set DCACHE_OP_REVALIDATE, and
 *     no directory of such a file system is remembered.
 *
 * [D8] Other names. A directory is cached only if no object in it has a path alias
 *     (every_name.bpf.h). A file that is itself a mount's root may be moved there. So an entry
 *     uses the count of moves only if the file system is mounted once.
 * [D9] Order. The last component is read again, and its dentry's sequence count shows that it was
 *     not moved meanwhile. All reads come before the comparison of the counts, so that a later
 *     change affects later accesses only. Only grants come from an entry: an access that it would
 *     deny is checked from the root.
 */
#ifndef CORDON_BPF_DIRECTORY_CACHE_BPF_H
#define CORDON_BPF_DIRECTORY_CACHE_BPF_H

#include "bpf/core/climb.bpf.h"

/*
 * Marks an entry's `renames` as a depth instead of a sequence, which is even while nothing moves.
 * The higher bits are the number of components of the directory's name. With it, a name found
 * through the directory above is not longer than one that a walk accepts.
 */
#define RENAMES_COUNTED	       1u
#define COUNTED_AT(depth)      ((__u32)(depth) << 1 | RENAMES_COUNTED)
#define COUNTED_DEPTH(renames) ((renames) >> 1)

/*
 * Reads the last component, and the directory that is the key of its entry. Leaves leaf->directory
 * 0 if the directory compares names without case, because the states there depend on the spelling.
 */
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
	/* From memory, the addresses are numbers to the verifier. */
	barrier();
	if (folds_of(dentry->d_flags, walk->dentry, leaf->directory))
		leaf->directory = 0;
}

static __always_inline __u32 dentry_sequence(__u64 dentry)
{
	__u32 sequence;

	order();
	sequence = read_u32(FIELD(struct dentry, dentry, d_seq.seqcount.sequence));
	order();
	return sequence;
}

/* The same for an address only. */
static __always_inline void note_leaf_at(struct walk *walk, __u64 dentry)
{
	struct leaf *leaf = &walk->leaf;
	const struct dentry_link *link = &walk->link;

	leaf->directory = 0;
	leaf->sequence = dentry_sequence(dentry);
	if (!read_dentry(dentry, &walk->link) || folds_of(link->flags, dentry, link->parent))
		return;
	leaf->directory_inode = read_u64(FIELD(struct dentry, link->parent, d_inode));
	leaf->inode = link->inode;
	leaf->name = link->name;
	leaf->length = link->length;
	leaf->directory = link->parent;
}

/* True if the dentry was not moved meanwhile. The sequence is odd during a move. */
static __always_inline bool leaf_holds(const struct walk *walk)
{
	return !(walk->leaf.sequence & 1) && dentry_sequence(walk->dentry) == walk->leaf.sequence;
}

/* With this bit, nothing is cached: see stop_remembering(). */
#define NOTHING_REMEMBERED (1ull << 63)

static __always_inline __u64 directory_changes(void)
{
	__u32 key = 0;
	__u64 *changes = bpf_map_lookup_elem(&changed_directories, &key), value;

	/* [D9] The names and the addresses of mounts were read before. */
	order();
	value = changes ? *(volatile __u64 *)changes : NOTHING_REMEMBERED;
	order();
	return value;
}

/* The place of an inode's address in freed_directories. */
static __always_inline __u32 freed_key(__u64 inode)
{
	return (inode * 0x9e3779b97f4a7c15ull) >> (64 - FREED_SHIFT);
}

/*
 * The number of freed inodes of directories at the place of this address. The map has each place,
 * so that the lookup never fails.
 */
static __always_inline __u64 directories_freed(__u64 inode)
{
	__u32 key = freed_key(inode);
	__u64 *freed = bpf_map_lookup_elem(&freed_directories, &key), value;

	/* [D4] The address was read before. */
	order();
	value = freed ? *(volatile __u64 *)freed : 0;
	order();
	return value;
}

/*
 * For the entries that the attempt may come to. The caller checks afterwards that no rename has
 * disturbed the attempt: then the last component has pinned its directory, and this the one above.
 */
static __always_inline void directories_note_freed(struct walk *walk)
{
	walk->noted.freed = directories_freed(walk->leaf.directory_inode);
	if (walk->partial == RECALL_NONE)
		walk->above.freed = directories_freed(walk->above.inode);
}

/* Checks with other flags have another meaning, or are rare. */
static __always_inline bool is_cacheable(const struct subject *s)
{
	return !s->spare && !(s->walk->flags & ~(NAME_LISTING | NAME_SOURCE)) && s->walk->wanted;
}

/* The two places that an entry for a directory may have: this one and the next. */
static __always_inline __u32 first_place(const struct walk *walk, __u64 directory)
{
	__u64 hash = (directory ^ walk->vfsmount << 1) * 0x9e3779b97f4a7c15ull;

	return hash >> (64 - DIRECTORY_CACHE_SHIFT) & ~1u;
}

static __always_inline struct directory *entry_at(struct walk *walk, __u32 place)
{
	return &walk->directories.entries[place & (DIRECTORY_CACHE_ENTRIES - 1)];
}

static __always_inline bool is_entry_of(const struct walk *walk, const struct directory *entry,
					__u64 directory)
{
	return entry->dentry == directory && entry->mount == walk->vfsmount;
}

/* The entry at the first place if there is none for the directory. */
static __always_inline struct directory *entry_of(struct walk *walk, __u64 directory)
{
	__u32 place = first_place(walk, directory);
	struct directory *second = entry_at(walk, place + 1);

	return is_entry_of(walk, second, directory) ? second : entry_at(walk, place);
}

static __always_inline struct directory *directory_entry(struct walk *walk)
{
	return entry_of(walk, walk->leaf.directory);
}

/* Runs over the last components alone, from the states after a directory's name. */
static __always_inline void directory_resume(const struct subject *s, const struct directory *entry,
					     __u32 components)
{
	struct walk *walk = s->walk;
	__u32 state[DIRECTORY_STATES] = {entry->state[0], entry->state[1], entry->state[2],
					 entry->state[3]};

	runs_prepare(s);
	walk->answer.verdict.allow = entry->allow;
	/* Denies of an entry are final here, because only grants are taken from it. */
	walk->answer.verdict.deny = (__u32)entry->deny << CORDON_EXCEPT_SHIFT | entry->deny;
	walk->noted.freed = entry->freed;
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
 * Called if the directory is not cached: uses the entry of the directory above it. All reads are
 * under one sequence of renames and mounts, as in a path walk, because the result is cached.
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
	    (link->flags & DCACHE_OP_REVALIDATE) || is_anchor(s, link->inode) ||
	    folds_of(link->flags, leaf->directory, link->parent))
		return false;
	entry = entry_of(walk, link->parent);
	above = read_u64(FIELD(struct dentry, link->parent, d_inode));
	if (!is_entry_of(walk, entry, link->parent) || entry->inode != above ||
	    !(entry->renames & RENAMES_COUNTED) ||
	    COUNTED_DEPTH(entry->renames) + 2 > CORDON_MAX_COMPONENTS || is_changed_inside(above))
		return false;
	walk->above.inode = entry->inode;
	walk->above.freed = entry->freed;
	walk->above.renames = entry->renames;
	directory_resume(s, entry, 2);
	component_set(walk, 0, leaf->name, leaf->length);
	component_set(walk, 1, link->name, link->length);
	return true;
}

/* Sets up the runs from a cached directory. The caller must check recall_holds() after the runs. */
static __always_inline enum recall directory_recall(const struct subject *s)
{
	struct walk *walk = s->walk;
	const struct directory_cache *cache = &walk->directories;
	const struct directory *entry = directory_entry(walk);
	const struct leaf *leaf = &walk->leaf;

	if (!leaf->directory || cache->policy != s->policy_ref || walk->dentry == leaf->directory ||
	    is_anchor(s, leaf->inode))
		return RECALL_NONE;
	if (!is_entry_of(walk, entry, leaf->directory) || entry->inode != leaf->directory_inode)
		return directory_recall_above(s) ? RECALL_ABOVE : RECALL_NONE;
	directory_resume(s, entry, 1);
	component_set(walk, 0, leaf->name, leaf->length);
	walk->sequence = (__u64)entry->renames << 32 | cache->mounts;
	return entry->renames & RENAMES_COUNTED ? RECALL_COUNTED : RECALL_COMPARED;
}

/* [D4] The inode of the entry that the runs began with was never freed since. */
static __always_inline bool is_same_inode(const struct walk *walk)
{
	if (walk->partial == RECALL_ABOVE)
		return directories_freed(walk->above.inode) == walk->above.freed;
	return directories_freed(walk->leaf.directory_inode) == walk->noted.freed;
}

/*
 * [D1] [D2] [D9] Nothing has changed since the entry was made, or since the last component was
 * read.
 */
static __always_inline bool recall_holds(const struct walk *walk)
{
	const struct directory_cache *cache = &walk->directories;

	if (directory_changes() != cache->changes || !is_same_inode(walk))
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

/* Call after a settled check. True if the file system is known to have no second mount. */
static __always_inline bool is_mounted_once(const struct walk *walk)
{
	const struct other_names *others = &walk->others;
	__u64 super_block = super_block_of(walk->dentry);

	return super_block && super_block == others->once &&
	       others->once_mounts == (__u32)walk->sequence;
}

/*
 * Replaces the state of a finished run by its outcome. The first states are the directory's, the
 * others belong to `above`.
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

	/* The older entry moves to the second place, and replaces the one there. */
	if (entry->dentry && !is_entry_of(walk, entry, noted->dentry))
		*entry_at(walk, first_place(walk, noted->dentry) + 1) = *entry;
	*entry = *noted;
	entry->mount = walk->vfsmount;
	entry->renames = renames;
}

/* Stores the result of an undisturbed path walk, or of a run from the directory above. */
static __always_inline void directory_remember(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct directory_cache *cache = &walk->directories;
	bool counted = !(walk->unstable & UNSTABLE_MOVES) && is_mounted_once(walk);
	/*
	 * A run from a cached directory has no states for the one above. A bound directory adds a
	 * run that the one above lacks.
	 */
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
