/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The directories in which everybody keeps temporary files, under CORDON_POLICY_OWN_TEMPORARY: what
 * an execution makes directly in one of them, and all that lies below it, is judged as if the
 * directory were ${tmp}, besides by its name. So is a name that is free, to be taken. What somebody
 * else has made there is not, whatever it is called.
 *
 * Who has made what is noted by the file's identity, when the kernel gives the inode to the name
 * that a hook has granted (d_instantiate()), or when it is moved there. The identity names one file
 * and no other (temporary_identify()), and is forgotten before it can pass to another file. Where
 * names come from a server, nothing is noted.
 *
 * Names in these directories are followed, written to and waited for by whoever expects them there:
 * no symbolic link, FIFO or socket is made directly in one by these rules.
 */
#ifndef CORDON_BPF_TEMPORARY_BPF_H
#define CORDON_BPF_TEMPORARY_BPF_H

#include "bpf/core/superblock.bpf.h"
#include "bpf/core/tables.bpf.h"

#define TEMPORARY_OWNERS 4096u
#define TEMPORARY_MAKERS 8192u /* tasks that are between the hook and the inode */

struct temporary_file {
	__u64 inode;	  /* inode.i_ino; BY_ADDRESS: address of struct inode */
	__u32 device;	  /* super_block.s_dev */
	__u32 generation; /* inode.i_generation, or BY_ADDRESS */
};

#define BY_ADDRESS 0xffffffffu /* no number of an inode is an address */

struct temporary_entry {
	__u64 owner; /* see struct cordon_execution */
	__u32 user;  /* whose share it is charged to */
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

/* How many of them are whose. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TEMPORARY_OWNERS);
	__type(key, __u64);
	__type(value, __u64);
} temporary_counts SEC(".maps");

/* A dentry that a task may make, and whose inode is to be noted. */
struct awaited {
	__u64 dentry;
	__u32 directory; /* of a link: number of a bound directory, from 1; 0: a temporary file */
	__u32 reserved;
};

/* By task. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TEMPORARY_MAKERS);
	__type(key, __u64);
	__type(value, struct awaited);
} temporary_makers SEC(".maps");

#define MOUNT_POINT 1ull /* no address */

static __always_inline bool has_own_temporary(const struct subject *s)
{
	return s->policy->flags & CORDON_POLICY_OWN_TEMPORARY;
}

/*
 * The inode of the upper layer that an overlay's inode stands for; 0: it has none. The module that
 * knows struct ovl_inode may be loaded after this program, so that no type describes it: the dentry
 * of the upper layer follows the inode (fs/overlayfs/ovl_entry.h). Whatever else stands there is no
 * dentry that agrees with its inode, and yields 0.
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
 * By number where has_unique_numbers(), also when the kernel has dropped the inode and read it
 * again. Elsewhere by address, for as long as the inode is in memory: numbers of an overlay are
 * those of its layers, and layers on two file systems have the same ones. What an execution makes
 * on an overlay is in the upper layer, and is identified there.
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
	/* Moved there from a lower layer: it had no inode in the upper one yet. */
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

/* Only looks: temporary_note() takes the place. */
static __always_inline bool may_make_temporary(const struct subject *s)
{
	__u64 owner = s->execution->temporary_owner, held = temporary_held(owner);

	return owner && held < TEMPORARY_EACH &&
	       share_may_take(s->execution->user, CORDON_SHARE_TEMPORARY, TEMPORARY_ALL, held);
}

/* Runs for whoever lets go of the inode last, too. */
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

/* Forgets a file that was noted, but has no name in such a directory. */
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

/* A name was granted that is free: an inode will be given to it. See struct awaited. */
static __always_inline void await_inode(__u64 dentry, __u32 directory)
{
	struct awaited awaited = {.dentry = dentry, .directory = directory};
	__u64 task = (__u64)bpf_get_current_task_btf();

	bpf_map_update_elem(&temporary_makers, &task, &awaited, BPF_ANY);
}

/* What the task was granted before, it did not make. */
static __always_inline void await_nothing(void)
{
	__u64 task = (__u64)bpf_get_current_task_btf();

	bpf_map_delete_elem(&temporary_makers, &task);
}

/* A component of the name was read, on the way up. */
static __always_inline void note_passed(struct walk *walk, __u64 inode)
{
	walk->passed[2] = walk->passed[1];
	walk->passed[1] = walk->passed[0];
	walk->passed[0] = walk->covered ? MOUNT_POINT : inode;
	walk->covered = 0;
}

/* Of how many components is the directory's name that the climb ended in? 0: it is another one. */
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

/* Behind a climb that has found a name: adds the run over what lies below such a directory. */
static __noinline void run_below_temporary(const struct subject *s)
{
	struct walk *walk = s->walk;
	__u32 directory = temporary_directory(walk), below;
	__u64 inode;

	if (!directory)
		return;
	below = walk->depth - directory - 1;
	inode = walk->passed[directory];
	/* Says nothing of what lies beside it. */
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
