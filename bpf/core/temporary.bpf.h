/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Directories for temporary files of all users, under CORDON_POLICY_OWN_TEMPORARY. A file that an
 * execution makes directly in one, and all names below it, are also checked as if the directory
 * were ${tmp}. So is a free name. Files of other creators there are not, whatever their names.
 *
 * The creator is recorded by the file's identity. This happens when the kernel attaches the inode
 * to a name that a hook has granted (d_instantiate()), or when the file is moved there. The
 * identity belongs to one file only (temporary_identify()). It is forgotten before it can pass to
 * another file. If a server controls the names, nothing is recorded.
 *
 * Other programs open names in these directories. Therefore these rules allow no symbolic link,
 * FIFO or socket directly in one.
 */
#ifndef CORDON_BPF_TEMPORARY_BPF_H
#define CORDON_BPF_TEMPORARY_BPF_H

#include "bpf/core/superblock.bpf.h"
#include "bpf/core/tables.bpf.h"

#define TEMPORARY_OWNERS 4096u
#define TEMPORARY_MAKERS 8192u /* tasks between the hook and d_instantiate() */

struct temporary_file {
	__u64 inode;	  /* inode.i_ino; BY_ADDRESS: address of struct inode */
	__u32 device;	  /* super_block.s_dev */
	__u32 generation; /* inode.i_generation, or BY_ADDRESS */
};

#define BY_ADDRESS 0xffffffffu /* no inode number: the generation marks an address */

struct temporary_entry {
	__u64 owner; /* see struct cordon_execution.temporary_owner */
	__u32 user;  /* user that is charged for it */
	__u32 reserved;
};

/* Files may outlive the execution, and are charged to its user until they are removed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TEMPORARY_ALL);
	__type(key, struct temporary_file);
	__type(value, struct temporary_entry);
} temporary_files SEC(".maps");

/* Number of entries per owner. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TEMPORARY_OWNERS);
	__type(key, __u64);
	__type(value, __u64);
} temporary_counts SEC(".maps");

/* A dentry that a task may create; its inode will be recorded. */
struct awaited {
	__u64 dentry;
	__u32 directory; /* for a link: number of a bound directory, from 1; 0: a temporary file */
	__u32 reserved;
};

/* By task. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TEMPORARY_MAKERS);
	__type(key, __u64);
	__type(value, struct awaited);
} temporary_makers SEC(".maps");

#define MOUNT_POINT 1ull /* not a valid address */

static __always_inline bool has_own_temporary(const struct subject *s)
{
	return s->policy->flags & CORDON_POLICY_OWN_TEMPORARY;
}

/*
 * The inode in the upper layer for an overlay's inode; 0: none. The overlay module may be loaded
 * after this program, so that struct ovl_inode has no BTF. The dentry of the upper layer follows
 * the inode in that struct (fs/overlayfs/ovl_entry.h). If another value is there, it does not match
 * its inode, and the result is 0.
 */
static __always_inline __u64 upper_inode(__u64 inode)
{
	__u64 dentry = read_u64(inode + bpf_core_type_size(struct inode));
	__u64 upper = dentry ? read_u64(FIELD(struct dentry, dentry, d_inode)) : 0;

	if (!upper || super_block_of(dentry) != read_u64(FIELD(struct inode, upper, i_sb)))
		return 0;
	return upper;
}

static __always_inline void identify_by_address(__u64 inode, struct temporary_file *file)
{
	__u64 super_block = read_u64(FIELD(struct inode, inode, i_sb));

	file->inode = inode;
	file->device = read_u32(FIELD(struct super_block, super_block, s_dev));
	file->generation = BY_ADDRESS;
}

/*
 * Identifies a file by its number if has_unique_numbers(), which stays valid when the kernel drops
 * the inode and reads it again. Otherwise by its address, as long as the inode is in memory. An
 * overlay's numbers are the numbers in its layers, and layers on two file systems may share
 * numbers. Files that an execution makes on an overlay are in the upper layer, and are identified
 * there.
 */
static __noinline void temporary_identify(__u64 inode, struct temporary_file *file)
{
	__u64 super_block = read_u64(FIELD(struct inode, inode, i_sb)), upper;

	if (read_u64(FIELD(struct super_block, super_block, s_magic)) == OVERLAYFS_MAGIC) {
		upper = upper_inode(inode);
		inode = upper ? upper : inode;
		super_block = read_u64(FIELD(struct inode, inode, i_sb));
	}
	identify_by_address(inode, file);
	if (!has_unique_numbers(super_block))
		return;
	file->inode = read_u64(FIELD(struct inode, inode, i_ino));
	file->generation = read_u32(FIELD(struct inode, inode, i_generation));
}

static __noinline bool is_own_temporary(const struct subject *s, __u64 inode)
{
	struct temporary_file file;
	const struct temporary_entry *note;

	temporary_identify(inode, &file);
	note = bpf_map_lookup_elem(&temporary_files, &file);
	/*
	 * A file moved there from a lower layer had no inode in the upper layer when it was
	 * recorded.
	 */
	if (!note) {
		identify_by_address(inode, &file);
		note = bpf_map_lookup_elem(&temporary_files, &file);
	}
	return note && note->owner && note->owner == s->execution->temporary_owner;
}

static __always_inline __u64 temporary_held(__u64 owner)
{
	const __u64 *files = bpf_map_lookup_elem(&temporary_counts, &owner);

	return files ? *files : 0;
}

/* Only checks: temporary_note() takes the entry. */
static __always_inline bool may_make_temporary(const struct subject *s)
{
	__u64 owner = s->execution->temporary_owner, held = temporary_held(owner);

	return owner && held < TEMPORARY_EACH &&
	       share_may_take(s->execution->user, CORDON_SHARE_TEMPORARY, TEMPORARY_ALL, held);
}

/* Also runs for the task that drops the inode's last reference. */
static __noinline void temporary_forget(const struct temporary_file *file)
{
	const struct temporary_entry *found = bpf_map_lookup_elem(&temporary_files, file);
	__u64 owner, *files;
	__u32 user;

	if (!found)
		return;
	owner = found->owner;
	user = found->user;
	if (bpf_map_delete_elem(&temporary_files, file))
		return;
	share_give_back(user, CORDON_SHARE_TEMPORARY);
	files = bpf_map_lookup_elem(&temporary_counts, &owner);
	if (files && *files)
		__sync_fetch_and_add(files, -1);
}

/* Removes the record of a file that has no name in such a directory. */
static __noinline void temporary_disown(__u64 inode)
{
	struct temporary_file file;

	temporary_identify(inode, &file);
	temporary_forget(&file);
}

static __noinline void temporary_note(const struct cordon_execution *execution, __u64 inode)
{
	struct temporary_entry note = {.owner = execution->temporary_owner,
				       .user = execution->user};
	__u64 owner = note.owner, one = 1, held, *files;
	const struct temporary_entry *former;
	struct temporary_file file;

	temporary_identify(inode, &file);
	former = bpf_map_lookup_elem(&temporary_files, &file);
	if (!owner || !file.inode || (former && former->owner == owner))
		return;
	temporary_forget(&file);
	held = temporary_held(owner);
	if (held >= TEMPORARY_EACH ||
	    !share_take(note.user, CORDON_SHARE_TEMPORARY, TEMPORARY_ALL, held))
		return;
	if (bpf_map_update_elem(&temporary_files, &file, &note, BPF_NOEXIST)) {
		share_give_back(note.user, CORDON_SHARE_TEMPORARY);
		return;
	}
	files = bpf_map_lookup_elem(&temporary_counts, &owner);
	if (files)
		__sync_fetch_and_add(files, 1);
	else
		bpf_map_update_elem(&temporary_counts, &owner, &one, BPF_ANY);
}

/* A free name was granted, and an inode will be attached to it. See struct awaited. */
static __always_inline void await_inode(__u64 dentry, __u32 directory)
{
	struct awaited awaited = {.dentry = dentry, .directory = directory};
	__u64 task = (__u64)bpf_get_current_task_btf();

	bpf_map_update_elem(&temporary_makers, &task, &awaited, BPF_ANY);
}

/* Forgets an earlier grant of the task that led to no file. */
static __always_inline void await_nothing(void)
{
	__u64 task = (__u64)bpf_get_current_task_btf();

	bpf_map_delete_elem(&temporary_makers, &task);
}

/* Records a component during the path walk. */
static __always_inline void note_passed(struct walk *walk, __u64 inode)
{
	walk->passed[2] = walk->passed[1];
	walk->passed[1] = walk->passed[0];
	walk->passed[0] = walk->covered ? MOUNT_POINT : inode;
	walk->covered = 0;
}

/*
 * Number of components in the name of the temporary directory at the start of the name; 0: the name
 * is in none.
 */
static __always_inline __u32 temporary_directory(const struct walk *walk)
{
	char outer[4] = {}, inner[4] = {};
	__u32 depth = walk->depth;

	if (depth < 2)
		return 0;
	if (component_length(walk, depth - 1) != 3)
		return 0;
	bpf_probe_read_kernel(outer, 3, (const void *)component_name(walk, depth - 1));
	if (__builtin_memcmp(outer, "tmp", 4) == 0)
		return 1;
	if (depth < 3 || component_length(walk, depth - 2) != 3)
		return 0;
	bpf_probe_read_kernel(inner, 3, (const void *)component_name(walk, depth - 2));
	if (__builtin_memcmp(outer, "var", 4) == 0 && __builtin_memcmp(inner, "tmp", 4) == 0)
		return 2;
	return __builtin_memcmp(outer, "dev", 4) == 0 && __builtin_memcmp(inner, "shm", 4) == 0 ? 2
												: 0;
}

/* Called after a path walk that found a name: adds the run below the temporary directory. */
static __noinline void run_below_temporary(const struct subject *s)
{
	struct walk *walk = s->walk;
	__u32 directory = temporary_directory(walk), below;
	__u64 inode;

	if (!directory)
		return;
	below = walk->depth - directory - 1;
	inode = walk->passed[directory];
	/* Names beside it are not below it, so do not cache. */
	if (below == 0)
		walk->unstable |= UNSTABLE_NAME;
	if (below == 1)
		walk->above.dentry = 0;
	if (inode ? !is_own_temporary(s, inode)
		  : !may_make_temporary(s) || !moves_by_hook(walk->dentry))
		return;
	if (walk->run_count >= NAME_RUNS)
		return;
	run_add(walk, RUN_ANCHOR + CORDON_ANCHOR_TMP,
		start_state(s, CORDON_START_ANCHOR + CORDON_ANCHOR_TMP), below + 1);
	walk->temporary = below ? TEMPORARY_BELOW : TEMPORARY_DIRECTLY;
	if (!walk->answer.below)
		walk->answer.below = below;
}

#endif
