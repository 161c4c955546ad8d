/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The path walk: from a dentry up to the root of the mount namespace. It finds the components of an
 * object's name, and the bound directories above it. It uses no path buffer, and never the string
 * that a system call was given. The only limit is the number of components.
 *
 * Fail closed: an object has no name if the walk is too deep. It also has none if the walk does not
 * end at the root of the recorded mount namespace, as in detached trees, other namespaces and
 * lazily unmounted trees. An object without a name is denied.
 */
#ifndef CORDON_BPF_CLIMB_BPF_H
#define CORDON_BPF_CLIMB_BPF_H

#include "bpf/core/folded.bpf.h"
#include "bpf/core/own_namespaces.bpf.h"
#include "bpf/core/temporary.bpf.h"

/* Flags of a check */
#define NAME_LISTING 0x1u  /* a directory to be listed: a slash follows its name */
#define NAME_PROC    0x2u  /* in procfs: directories of the execution's processes read "self" */
#define NAME_SOURCE  0x4u  /* source of a rename or link: keep the states reached */
#define NAME_TREE    0x10u /* also check everything below the name */
#define NAME_SPELLED 0x20u /* an event needs the formatted path, whatever the result */
/* a symbolic link: also find out whether rules apply to names below it */
#define NAME_LINK 0x40u
/* The mount is not known: see mountless.bpf.h. For ask_whole() only. */
#define NAME_MOUNTLESS 0x80u
#define NAME_MAYBE     0x8u /* the mount is one of several candidates: see mountless.bpf.h */

#define MOUNT_CROSSINGS 64

/* With NAME_MAYBE, besides enum cordon_reason: the object is not below that mount. */
#define REASON_ELSEWHERE 0xffu

/*
 * Addresses of kernel variables, set by the loader. A read of address 0 fails: see sequence_busy().
 */
const volatile __u64 rename_lock;
const volatile __u64 mount_lock;

static __always_inline bool read_dentry(__u64 dentry, struct dentry_link *link)
{
	if (!HAS_DIRECT_LOADS && bpf_core_field_offset(struct dentry, d_flags) == 0 &&
	    bpf_core_field_offset(struct dentry, d_parent) == 24 &&
	    bpf_core_field_offset(struct dentry, d_name) == 32 &&
	    bpf_core_field_offset(struct dentry, d_inode) == 48)
		return bpf_probe_read_kernel(link, sizeof(*link), (const void *)dentry) == 0;
	link->flags = read_u32(FIELD(struct dentry, dentry, d_flags));
	link->parent = read_u64(FIELD(struct dentry, dentry, d_parent));
	link->inode = read_u64(FIELD(struct dentry, dentry, d_inode));
	link->length = read_u32(FIELD(struct dentry, dentry, d_name.len));
	link->name = read_u64(FIELD(struct dentry, dentry, d_name.name));
	/* Every dentry has a parent, so a NULL one means that the read failed. */
	return link->parent && link->name;
}

static __always_inline __u64 mount_of(__u64 vfsmount)
{
	return vfsmount - bpf_core_field_offset(struct mount, mnt);
}

static __always_inline __u32 mount_sequence(void)
{
	__u32 sequence;

	order();
	sequence = read_u32(mount_lock);
	order();
	return sequence;
}

/*
 * Sequence counts of rename_lock and mount_lock, which change with every rename and every change of
 * the mount tree. Reads between two calls happen between the two counts.
 */
static __always_inline __u64 name_sequence(void)
{
	__u64 sequence;

	order();
	sequence = (__u64)read_u32(rename_lock) << 32 | read_u32(mount_lock);
	order();
	return sequence;
}

/*
 * True if a count is odd, which means that a writer is active. Also true if mount_lock reads as 0.
 * Its count is never 0 once a root directory exists. So a 0 means that the address cannot be read,
 * and that no name is reliable.
 */
static __always_inline bool sequence_busy(__u64 sequence)
{
	return (sequence & 0x100000001ull) || !(__u32)sequence;
}

/*
 * Is this procfs inode the directory of a process? Returns 1 for a process of the same execution,
 * -1 for another process, 0 for no process. struct pid outlives the inode's dentry; tasks[] is
 * empty once the process has exited.
 */
static __always_inline int proc_owner(const struct subject *s, __u64 inode)
{
	__u64 proc = inode - bpf_core_field_offset(struct proc_inode, vfs_inode);
	__u64 pid = read_u64(FIELD(struct proc_inode, proc, pid));
	const struct label *label;
	__u64 node;

	if (!pid)
		return 0;
	/* tasks[PIDTYPE_PID] is the leader, which stays hashed until the whole group is reaped. */
	node = read_u64(FIELD(struct pid, pid, tasks));
	if (!node)
		return -1;
	label = label_of_address(node - bpf_core_field_offset(struct task_struct, pid_links));
	return label && same_label(label, &s->label) ? 1 : -1;
}

enum climb_result {
	CLIMB_GOING = 0,
	CLIMB_TOP = 1,
	CLIMB_LOST = 2,
};

/* One directory may be bound several times. */
static long note_anchor(__u32 n, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	const struct cordon_anchor *anchor = &s->execution->anchors[n & (CORDON_MAX_ANCHORS - 1)];
	__u64 inode = walk->link.inode, super_block;

	if (anchor->address != inode ||
	    anchor->inode != read_u64(FIELD(struct inode, inode, i_ino)) ||
	    anchor->generation != read_u32(FIELD(struct inode, inode, i_generation)))
		return 0;
	super_block = read_u64(FIELD(struct inode, inode, i_sb));
	if (anchor->device != read_u32(FIELD(struct super_block, super_block, s_dev)))
		return 0;
	run_add(walk, RUN_ANCHOR + n, start_state(s, CORDON_START_ANCHOR + n), walk->depth);
	if (!walk->answer.below)
		walk->answer.below = walk->depth;
	/* Other names in its directory are not below it. */
	if (walk->depth == 0)
		walk->unstable |= UNSTABLE_NAME;
	return 0;
}

/* The address alone excludes nearly every component. */
static __always_inline bool is_anchor(const struct subject *s, __u64 inode)
{
	const struct cordon_anchor *anchors = s->execution->anchors;

	return inode && (anchors[0].address == inode || anchors[1].address == inode ||
			 anchors[2].address == inode || anchors[3].address == inode ||
			 anchors[4].address == inode || anchors[5].address == inode ||
			 anchors[6].address == inode || anchors[7].address == inode);
}

/*
 * Is a name in this directory being created, moved or removed? vfs_rename() runs with both parents
 * locked (lock_rename(), fs/namei.c). Also true if the lock has another type (CONFIG_PREEMPT_RT).
 * See [D1] in directory_cache.bpf.h.
 */
static __always_inline bool is_changed_inside(__u64 inode)
{
	if (!bpf_core_field_exists(struct rw_semaphore, count))
		return true;
	return !inode ||
	       (read_u64(FIELD(struct inode, inode, i_rwsem.count)) & RWSEM_WRITER_LOCKED);
}

/* Continues from the root of a mount at its mount point. */
static __always_inline enum climb_result cross_mount(struct walk *walk)
{
	__u64 parent = read_u64(FIELD(struct mount, walk->mount, mnt_parent));

	if (!parent)
		return CLIMB_LOST;
	if (parent == walk->mount)
		return CLIMB_TOP;
	walk->at = read_u64(FIELD(struct mount, walk->mount, mnt_mountpoint));
	walk->mount = parent;
	walk->mount_root = read_u64(FIELD(struct mount, parent, mnt.mnt_root));
	walk->unseen = !moves_by_hook(walk->mount_root);
	/* The rest of the walk is outside procfs. */
	walk->in_proc = 0;
	walk->crossed = 1;
	walk->covered = 1;
	return CLIMB_GOING;
}

static __always_inline enum climb_result record_component(const struct subject *s,
							  const struct dentry_link *link)
{
	struct walk *walk = s->walk;
	__u32 depth = walk->depth, folds;
	int owner = 0;

	if (depth >= CORDON_MAX_COMPONENTS)
		return CLIMB_GOING; /* the loop ends first, without reaching the top */
	if (walk->in_proc && link->parent == walk->mount_root) {
		owner = proc_owner(s, link->inode);
		/* The walk continues, because the event needs the name. */
		if (owner < 0) {
			walk->foreign = 1;
			owner = 0;
		}
	}
	/*
	 * Only a file system with a component in the name counts. If its root is covered by another
	 * mount, as on an initramfs, it has none.
	 */
	if (walk->unseen)
		walk->unstable |= UNSTABLE_MOVES;
	component_set(walk, depth, link->name, link->length);
	if (owner)
		component_mark(walk, depth, COMPONENT_SELF);
	folds = folds_of(link->flags, walk->at, link->parent);
	/* Other spellings lead to other states. */
	if (folds) {
		component_mark(walk, depth, folds);
		walk->unstable |= UNSTABLE_NAME;
	}
	if (depth == 1 && !walk->crossed)
		walk->above.dentry = link->parent;
	note_passed(walk, link->inode);
	walk->depth = depth + 1;
	walk->at = link->parent;
	return CLIMB_GOING;
}

/* Prefix of names in a file system that the execution has made, for events. */
static const char own_files[8] = CORDON_OWN_FILES;

/* Ends the walk at the root of a file system that the execution has made. */
static __always_inline enum climb_result end_in_own(struct walk *walk)
{
	__u32 depth = walk->depth;
	__u64 type, name = (__u64)own_files + 1;

	if (depth >= CORDON_MAX_COMPONENTS)
		return CLIMB_GOING; /* the loop ends, without reaching the top */
	if (walk->own == OWN_PROC) {
		type = read_u64(FIELD(struct super_block, super_block_of(walk->at), s_type));
		name = read_u64(FIELD(struct file_system_type, type, name));
	}
	component_set(walk, depth, name, 4); /* length of either text */
	walk->depth = depth + 1;
	return CLIMB_TOP;
}

static long climb_step(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	struct dentry_link *link = &walk->link;

	if (!read_dentry(walk->at, link)) {
		walk->climbed = CLIMB_LOST;
		return 1;
	}
	/*
	 * [D7] Above a mount the dentries are pinned by it: their names change only by d_move() or
	 * a new mount.
	 */
	if ((link->flags & DCACHE_OP_REVALIDATE) && !walk->crossed)
		walk->unstable |= UNSTABLE_NAME;
	/* A root cannot move. */
	if ((link->flags & DCACHE_OP_REVALIDATE) && link->parent != walk->at)
		walk->unstable |= UNSTABLE_MOVES;
	/* [D1] Moves of the directory, and of the directories above it, hold these locks. */
	if (walk->depth >= 2 && is_changed_inside(link->inode))
		walk->unstable |= UNSTABLE_MOVES;
	if (walk->depth == 2 && !walk->crossed)
		walk->above.inode = link->inode;
	if (is_anchor(s, link->inode))
		bpf_loop(CORDON_MAX_ANCHORS, note_anchor, context, 0);
	if (walk->at == walk->mount_root)
		walk->climbed = walk->own ? end_in_own(walk) : cross_mount(walk);
	else if (link->parent == walk->at)
		walk->climbed = CLIMB_LOST;
	else
		walk->climbed = record_component(s, link);
	return walk->climbed != CLIMB_GOING;
}

/*
 * Fills walk->components, and adds a run for each bound directory. Returns 0 if the object has a
 * name, else enum cordon_reason.
 */
static __always_inline __u32 climb(const struct subject *s)
{
	struct walk *walk = s->walk;

	walk->depth = 0;
	walk->answer.below = 0;
	walk->climbed = CLIMB_GOING;
	walk->at = walk->dentry;
	walk->in_proc = walk->flags & NAME_PROC;
	walk->foreign = 0;
	walk->unstable = 0;
	walk->crossed = 0;
	walk->covered = 0;
	walk->mount = mount_of(walk->vfsmount);
	walk->mount_root =
		walk->own
			? read_u64(FIELD(struct super_block, super_block_of(walk->dentry), s_root))
			: read_u64(FIELD(struct vfsmount, walk->vfsmount, mnt_root));
	/*
	 * The name of a mount's root is on another mount, and not in the directory of its d_parent.
	 */
	if (walk->dentry == walk->mount_root)
		walk->unstable |= UNSTABLE_NAME;
	walk->unseen = !moves_by_hook(walk->mount_root);
	bpf_loop(CORDON_MAX_COMPONENTS + MOUNT_CROSSINGS, climb_step, (void *)s, 0);
	if (walk->foreign)
		return CORDON_REASON_FOREIGN;
	if (walk->climbed == CLIMB_GOING) {
		count(CORDON_COUNTER_TOO_DEEP);
		return CORDON_REASON_UNRESOLVED;
	}
	/* The walk reached the root of the file system without passing the root of the mount. */
	if (walk->climbed == CLIMB_LOST && (walk->flags & NAME_MAYBE) && !walk->crossed)
		return REASON_ELSEWHERE;
	/*
	 * A mount that is its own parent is a root. It must be the root of the recorded namespace.
	 */
	if (walk->climbed == CLIMB_LOST ||
	    (!walk->own && !is_reference(s, read_u64(FIELD(struct mount, walk->mount, mnt_ns)))))
		return CORDON_REASON_UNRESOLVED;
	if (has_own_temporary(s) && !walk->own)
		run_below_temporary(s);
	return 0;
}

#endif
