/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Kernel objects with a layout that differs between supported kernels. Each layout is a flavour of
 * the type, TYPE___SUBJECT_VARIANT. The types of the running kernel select one of them, and the
 * others are removed as dead code. userspace/kernel/layout.c requires one complete variant of each
 * subject, and reports the missing field otherwise.
 */
#ifndef CORDON_BPF_KERNEL_BPF_H
#define CORDON_BPF_KERNEL_BPF_H

#include "bpf/core/read.bpf.h"

#define FLAVOUR __attribute__((preserve_access_index))

/*
 * Mounts of a file system. A "link" is a list link: either the file system's own link, where the
 * list starts and ends, or a mount's.
 */

/* A list with its head in the file system. */
struct super_block___mounts_list {
	struct list_head s_mounts;
} FLAVOUR;

struct mount___mounts_list {
	struct list_head mnt_instance;
} FLAVOUR;

/* Since Linux 6.18: a singly linked chain that ends with NULL. */
struct super_block___mounts_chain {
	struct mount *s_mounts;
} FLAVOUR;

struct mount___mounts_chain {
	struct mount *mnt_next_for_sb;
} FLAVOUR;

#define MOUNTS_IN_LIST (bpf_core_field_exists(struct mount___mounts_list, mnt_instance))

static __always_inline __u64 first_mount_link(__u64 super_block)
{
	if (MOUNTS_IN_LIST)
		return FIELD(struct super_block___mounts_list, super_block, s_mounts);
	return FIELD(struct super_block___mounts_chain, super_block, s_mounts);
}

/* Returns 0 if the link cannot be read, `first` after the last one. */
static __always_inline __u64 next_mount_link(__u64 link, __u64 first)
{
	__u64 mount;

	if (MOUNTS_IN_LIST)
		return read_u64(FIELD(struct list_head, link, next));
	/*
	 * A failed read looks like the end of the chain. That cannot happen here: a mount is freed
	 * after an RCU grace period, this program is an RCU reader, and a removal changes
	 * mount_lock.
	 */
	mount = read_u64(link);
	return mount ? FIELD(struct mount___mounts_chain, mount, mnt_next_for_sb) : first;
}

/* The struct mount that contains a link other than the first. */
static __always_inline __u64 mount_of_link(__u64 link)
{
	if (MOUNTS_IN_LIST)
		return link - bpf_core_field_offset(struct mount___mounts_list, mnt_instance);
	return link - bpf_core_field_offset(struct mount___mounts_chain, mnt_next_for_sb);
}

/* Number of mounts in a namespace. */

struct mnt_namespace___count_plain {
	unsigned int mounts;
} FLAVOUR;

/* Since Linux 6.8, `mounts` is the tree of them. */
struct mnt_namespace___count_named {
	unsigned int nr_mounts;
} FLAVOUR;

static __always_inline __u32 mounts_in(__u64 namespace)
{
	if (bpf_core_field_exists(struct mnt_namespace___count_named, nr_mounts))
		return read_u32(FIELD(struct mnt_namespace___count_named, namespace, nr_mounts));
	return read_u32(FIELD(struct mnt_namespace___count_plain, namespace, mounts));
}

/* Names of an inode: the list of its dentries. */

struct dentry___names_inner {
	union {
		struct hlist_node d_alias;
	} d_u;
} FLAVOUR;

/* Since Linux 7.1, in an anonymous union. */
struct dentry___names_plain {
	struct hlist_node d_alias;
} FLAVOUR;

/* The struct dentry that contains a node of the list in struct inode.i_dentry. */
static __always_inline __u64 dentry_of_node(__u64 node)
{
	if (bpf_core_field_exists(struct dentry___names_inner, d_u.d_alias))
		return node - bpf_core_field_offset(struct dentry___names_inner, d_u.d_alias);
	return node - bpf_core_field_offset(struct dentry___names_plain, d_alias);
}

/* A file's owner: the process or group that receives its signals. */

struct fown_struct___any {
	struct pid *pid;
} FLAVOUR;

/* Part of the file before Linux 6.12. */
struct file___owner_inside {
	struct fown_struct___any f_owner;
} FLAVOUR;

struct file___owner_beside {
	struct fown_struct___any *f_owner;
} FLAVOUR;

/* Returns a struct pid, or 0 for no owner. */
static __always_inline __u64 owner_of(struct file *file)
{
	__u64 owner;

	if (bpf_core_field_exists(struct file___owner_inside, f_owner)) {
		owner = FIELD(struct file___owner_inside, file, f_owner);
	} else {
		owner = read_u64(FIELD(struct file___owner_beside, file, f_owner));
		if (!owner)
			return 0;
	}
	return read_u64(FIELD(struct fown_struct___any, owner, pid));
}

/* Time of an inode's last change (ctime). */

struct inode___change_whole {
	struct timespec64 i_ctime;
} FLAVOUR;

/* Since Linux 6.6. */
struct inode___change_hidden {
	struct timespec64 __i_ctime;
} FLAVOUR;

/* Since Linux 6.11. */
struct inode___change_parts {
	time64_t i_ctime_sec;
	u32 i_ctime_nsec;
} FLAVOUR;

/* The highest bits of the field are flags (I_CTIME_QUERIED, Linux 6.13). */
#define CHANGE_NSEC_MASK 0x7fffffffu

/* Returns ns since the epoch. */
static __always_inline __u64 last_change_of(__u64 inode)
{
	__u64 seconds, nsec;

	if (bpf_core_field_exists(struct inode___change_parts, i_ctime_sec)) {
		seconds = read_u64(FIELD(struct inode___change_parts, inode, i_ctime_sec));
		nsec = read_u32(FIELD(struct inode___change_parts, inode, i_ctime_nsec)) &
		       CHANGE_NSEC_MASK;
	} else if (bpf_core_field_exists(struct inode___change_hidden, __i_ctime)) {
		seconds = read_u64(FIELD(struct inode___change_hidden, inode, __i_ctime.tv_sec));
		nsec = read_u64(FIELD(struct inode___change_hidden, inode, __i_ctime.tv_nsec));
	} else {
		seconds = read_u64(FIELD(struct inode___change_whole, inode, i_ctime.tv_sec));
		nsec = read_u64(FIELD(struct inode___change_whole, inode, i_ctime.tv_nsec));
	}
	return seconds * 1000000000ull + nsec;
}

/*
 * The name of the current path lookup, as the caller passed it. The structs are private to
 * fs/namei.c: if the kernel's BTF lacks them, the name is not available.
 */

#define TELLS_ASKED_NAME                                                                           \
	(bpf_core_field_exists(struct nameidata, name) &&                                          \
	 bpf_core_field_exists(struct nameidata, dfd))

/* Returns a struct nameidata; 0: no lookup is active, or BTF lacks the struct. */
static __always_inline __u64 name_walked(const struct task_struct *task)
{
	return TELLS_ASKED_NAME ? (__u64)read_task(task)->nameidata : 0;
}

#undef FLAVOUR

#endif
