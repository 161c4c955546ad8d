/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The kind of object behind an open file, and the path that names it. */
#ifndef CORDON_BPF_OBJECT_BPF_H
#define CORDON_BPF_OBJECT_BPF_H

#include "bpf/core/decide.bpf.h"

enum object_class {
	CLASS_NAMED,  /* has a path in a mounted file system */
	CLASS_STREAM, /* pipe, socket, anonymous inode: reached by descriptor only */
	CLASS_MEMORY, /* memfd, shared anonymous memory, SysV segments */
	/* a file or directory of a layer, opened by a stacked file system for itself */
	CLASS_BACKING,
	CLASS_NAMESPACE /* nsfs and other internal mounts */
};

/*
 * Is this a regular file that runs with the rights of its owner or group? Such a file outlives the
 * execution, and any user who may run it gets these rights. An execution with uid 0 and no
 * capability could thus give the host's uid 0 to other users. Therefore no policy can allow it. The
 * set-group-id bit counts even if the group may not execute the file: an access control list can
 * permit that later, without setting a mode.
 */
static __always_inline bool is_set_id(__u32 type, __u32 mode)
{
	type &= S_IFMT;
	/* mknod(2) accepts 0 for a regular file. */
	return (type == S_IFREG || type == 0) && (mode & (S_ISUID | S_ISGID));
}

struct file_object {
	__u64 dentry;
	__u64 vfsmount;
	__u64 inode;
	__u32 mode;  /* inode mode */
	__u32 links; /* link count; 0: deleted */
	enum object_class class;
	__u32 name_flags;
};

/*
 * A mount with an error pointer as namespace is internal (MNT_NS_INTERNAL, fs/mount.h). It is from
 * kern_mount(), which its superblock's flags show, or it is a private clone of a stacked file
 * system (clone_private_mount()). A task can reach the latter only through the stacked file system,
 * which checks its own path.
 */
static __always_inline enum object_class classify(__u64 vfsmount, __u64 flags, __u32 magic)
{
	__u64 ns = read_u64(FIELD(struct mount, mount_of(vfsmount), mnt_ns));

	if (!IS_ERR_VALUE(ns))
		return CLASS_NAMED;
	if (!(flags & (SB_KERNMOUNT | SB_NOUSER)))
		return CLASS_BACKING;
	switch (magic) {
	case PIPEFS_MAGIC:
	case SOCKFS_MAGIC:
	case ANON_INODE_FS_MAGIC:
	case PIDFS_MAGIC:
		return CLASS_STREAM;
	case TMPFS_MAGIC:
	case HUGETLBFS_MAGIC:
		return CLASS_MEMORY;
	default:
		return CLASS_NAMESPACE;
	}
}

/*
 * For a hook's own argument: direct loads cost a tenth of a probe read. False: there is no inode,
 * which does not happen for open files.
 */
static __always_inline bool inspect(const struct path *path, struct file_object *o)
{
	const struct path *named = read_path(path);
	const struct dentry *dentry = named->dentry;
	const struct inode *inode = dentry->d_inode;
	const struct super_block *super_block;

	if (!inode)
		return false;
	super_block = inode->i_sb;
	o->dentry = (__u64)dentry;
	o->vfsmount = (__u64)named->mnt;
	o->inode = (__u64)inode;
	o->mode = inode->i_mode;
	o->links = inode->i_nlink;
	o->class = classify(o->vfsmount, super_block->s_flags, super_block->s_magic);
	o->name_flags = super_block->s_magic == PROC_SUPER_MAGIC ? NAME_PROC : 0;
	return true;
}

/* For arguments that may be NULL although the verifier assumes otherwise: takes addresses only. */
static __noinline void inspect_path(__u64 dentry, __u64 vfsmount, struct file_object *o)
{
	__u64 super_block = read_u64(FIELD(struct dentry, dentry, d_sb));
	__u32 magic = read_u64(FIELD(struct super_block, super_block, s_magic));

	o->dentry = dentry;
	o->vfsmount = vfsmount;
	o->inode = read_u64(FIELD(struct dentry, dentry, d_inode));
	o->mode = read_u32(FIELD(struct inode, o->inode, i_mode)) & 0xffff;
	o->links = read_u32(FIELD(struct inode, o->inode, i_nlink));
	o->class = classify(vfsmount, read_u64(FIELD(struct super_block, super_block, s_flags)),
			    magic);
	o->name_flags = magic == PROC_SUPER_MAGIC ? NAME_PROC : 0;
}

/*
 * Is the file in a file system that the execution has made? A name in it does not identify a
 * program.
 */
static __noinline bool is_in_own_memory(const struct subject *s, const struct file_object *o)
{
	return has_own_namespaces(s) && !(o->name_flags & NAME_PROC) &&
	       is_own_superblock(s, super_block_of(o->dentry));
}

static __always_inline void inspect_file(__u64 file, struct file_object *o)
{
	inspect_path(read_u64(FIELD(struct file, file, f_path.dentry)),
		     read_u64(FIELD(struct file, file, f_path.mnt)), o);
}

/*
 * The file behind a mapping. A stacked file system maps its backing file (since Linux 6.5, struct
 * backing_file), which also stores the path that the user opened.
 */
static __always_inline void inspect_mapped_file(__u64 file, struct file_object *o)
{
	inspect_file(file, o);
	if (o->class == CLASS_BACKING && bpf_core_type_exists(struct backing_file)) {
		__u64 path = file + bpf_core_field_offset(struct backing_file, user_path);

		inspect_path(read_u64(path + bpf_core_field_offset(struct path, dentry)),
			     read_u64(path + bpf_core_field_offset(struct path, mnt)), o);
	}
}

#endif
