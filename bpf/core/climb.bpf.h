/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * From a dentry up to the root of the mount namespace: the components of an object's name, and
 * which anchors they pass. No path buffer and no length limit but the number of components; never
 * the string that a system call was given.
 *
 * Fail closed: a climb that does not end at the root of the mount namespace that was recorded for
 * the execution (detached trees, other namespaces, lazily unmounted trees) or that is too deep has
 * no name, and what has no name is denied.
 */
#ifndef CORDON_BPF_CLIMB_BPF_H
#define CORDON_BPF_CLIMB_BPF_H

#include "bpf/core/own_namespaces.bpf.h"
#include "bpf/core/temporary.bpf.h"

/* Question flags */
#define NAME_LISTING 0x1u  /* a directory to be listed: a slash follows its name */
#define NAME_PROC    0x2u  /* in procfs: directories of own processes read "self" */
#define NAME_SOURCE  0x4u  /* source of a rename or link: remember the states reached */
#define NAME_TREE    0x10u /* also of interest: everything below it */
#define NAME_SPELLED 0x20u /* whatever the answer, a record is to say the name */
#define NAME_LINK    0x40u /* of a symbolic link: do rules speak of what is below it? */
/* The mount is not known: see mountless.bpf.h. Of ask_whole() only. */
#define NAME_MOUNTLESS 0x80u
#define NAME_MAYBE     0x8u /* the mount is one of several that could be meant: see mountless.bpf.h */

#define MOUNT_CROSSINGS 64

/* Besides enum cordon_reason: the object does not lie below that mount. Of NAME_MAYBE only. */
#define REASON_ELSEWHERE 0xffu

/* Addresses of the kernel's variables, from the loader. 0 cannot be read: see sequence_busy(). */
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
	/* There is no dentry without a parent: it could not be read. */
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
 * Sequence counts that every rename and every change of the mount tree moves. What is read between
 * two of these calls is read between them.
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
 * Odd while a writer is inside. The mounts' is never 0 once there is a root directory: that is what
 * comes of an address that cannot be read, and no name may be believed then.
 */
static __always_inline bool sequence_busy(__u64 sequence)
{
	return (sequence & 0x100000001ull) || !(__u32)sequence;
}

/*
 * Is this inode of procfs the directory of a process of the same execution? -1: of another process,
 * 0: of no process, 1: yes. struct pid outlives its inode's dentry, tasks[] is empty once the
 * process is gone.
 */
static __always_inline int proc_owner(const struct subject *s, __u64 inode)
{
	__u64 proc = inode - bpf_core_field_offset(struct proc_inode, vfs_inode);
	__u64 pid = read_u64(FIELD(struct proc_inode, proc, pid));
	const struct label *label;
	__u64 node;

	if (!pid)
		return 0;
	/* tasks[PIDTYPE_PID]: the leader; it stays hashed until the whole group is reaped. */
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

/* One directory may be several anchors. */
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
	/* Nothing else in its directory lies below it. */
	if (walk->depth == 0)
		walk->unstable |= UNSTABLE_NAME;
	return 0;
}

/* The address alone settles nearly every component. */
static __always_inline bool is_anchor(const struct subject *s, __u64 inode)
{
	const struct cordon_anchor *anchors = s->execution->anchors;

	return inode && (anchors[0].address == inode || anchors[1].address == inode ||
			 anchors[2].address == inode || anchors[3].address == inode ||
			 anchors[4].address == inode || anchors[5].address == inode ||
			 anchors[6].address == inode || anchors[7].address == inode);
}

/*
 * Is something in a directory being made, moved or removed, by whoever it is? vfs_rename() is
 * called with the lock of what it moves from and to (lock_rename(), fs/namei.c). true as well where
 * the lock is of another kind (CONFIG_PREEMPT_RT).
 */
static __always_inline bool is_changed_inside(__u64 inode)
{
	if (!bpf_core_field_exists(struct rw_semaphore, count))
		return true;
	return !inode ||
	       (read_u64(FIELD(struct inode, inode, i_rwsem.count)) & RWSEM_WRITER_LOCKED);
}

/* From the root of a mount to where it is mounted. */
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
	/* The rest of the way lies outside procfs. */
	walk->in_proc = 0;
	walk->crossed = 1;
	walk->covered = 1;
	return CLIMB_GOING;
}

static __always_inline enum climb_result record_component(const struct subject *s,
							  const struct dentry_link *link)
{
	struct walk *walk = s->walk;
	__u32 depth = walk->depth;
	int owner = 0;

	if (depth >= CORDON_MAX_COMPONENTS)
		return CLIMB_GOING; /* the loop ends first, and finds no top */
	if (walk->in_proc && link->parent == walk->mount_root) {
		owner = proc_owner(s, link->inode);
		/* The climb goes on, for the record's sake. */
		if (owner < 0) {
			walk->foreign = 1;
			owner = 0;
		}
	}
	/* Not so of one on whose root another is mounted, as on that which the host booted from. */
	if (walk->unseen)
		walk->unstable |= UNSTABLE_MOVES;
	component_set(walk, depth, link->name, link->length);
	if (owner)
		component_mark_self(walk, depth);
	if (depth == 1 && !walk->crossed)
		walk->above.dentry = link->parent;
	note_passed(walk, link->inode);
	walk->depth = depth + 1;
	walk->at = link->parent;
	return CLIMB_GOING;
}

/* What the record of an object in memory of its own begins with. */
static const char own_files[8] = CORDON_OWN_FILES;

/* From the root of a file system that the execution has made. */
static __always_inline enum climb_result end_in_own(struct walk *walk)
{
	__u32 depth = walk->depth;
	__u64 type, name = (__u64)own_files + 1;

	if (depth >= CORDON_MAX_COMPONENTS)
		return CLIMB_GOING; /* the loop ends, and finds no top */
	if (walk->own == OWN_PROC) {
		type = read_u64(FIELD(struct super_block, super_block_of(walk->at), s_type));
		name = read_u64(FIELD(struct file_system_type, type, name));
	}
	component_set(walk, depth, name, 4); /* of both */
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
	/* Behind a mount, all is pinned by it: it is named anew only by d_move() or a new mount. */
	if ((link->flags & DCACHE_OP_REVALIDATE) && !walk->crossed)
		walk->unstable |= UNSTABLE_NAME;
	/* A root has nowhere to move. */
	if ((link->flags & DCACHE_OP_REVALIDATE) && link->parent != walk->at)
		walk->unstable |= UNSTABLE_MOVES;
	/* The directory's own moves, and those of what it stands in, are done under these locks. */
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
 * Fills walk->components and adds a run for each anchor passed. Returns an enum cordon_reason, 0 if
 * there is a name.
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
	 * The root of a mount has its name on another, in a directory that is not its own parent.
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
	/* The whole file system was climbed, and the mount's root not met. */
	if (walk->climbed == CLIMB_LOST && (walk->flags & NAME_MAYBE) && !walk->crossed)
		return REASON_ELSEWHERE;
	/* A mount that is its own parent is a root; it must be that of the recorded namespace. */
	if (walk->climbed == CLIMB_LOST ||
	    (!walk->own && !is_reference(s, read_u64(FIELD(struct mount, walk->mount, mnt_ns)))))
		return CORDON_REASON_UNRESOLVED;
	if (has_own_temporary(s) && !walk->own)
		run_below_temporary(s);
	return 0;
}

#endif
