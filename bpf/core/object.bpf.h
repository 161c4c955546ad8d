/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What kind of thing an open file is, and which path names it. */
#ifndef CORDON_BPF_OBJECT_BPF_H
#define CORDON_BPF_OBJECT_BPF_H

#include "bpf/core/decide.bpf.h"

enum object_class {
	CLASS_NAMED,   /* has a path in a file system */
	CLASS_STREAM,  /* pipe, socket, anonymous inode: reached by descriptor only */
	CLASS_MEMORY,  /* memfd, shared anonymous memory, SysV segments */
	CLASS_BACKING, /* a layer's file or directory, opened by a stacked file system for itself */
	CLASS_NAMESPACE /* nsfs and what else lives on internal mounts */
};

/*
 * A regular file whose program would run as its owner or group, whoever starts it. It outlives the
 * execution, and serves somebody outside who is let run it: an execution of uid 0 without a
 * capability could so leave the host's uid 0 to anybody. No policy can allow it. The group's bit
 * counts even where the group may not run the file yet: an access control list can change that
 * without a call that says a mode.
 */
static __always_inline bool is_set_id(__u32 type, __u32 mode)
{
	type &= S_IFMT;
	/* 0 as mknod(2) has it: a regular file. */
	return (type == S_IFREG || type == 0) && (mode & (S_ISUID | S_ISGID));
}

struct file_object {
	__u64 dentry;
	__u64 vfsmount;
	__u64 inode;
	__u32 mode;  /* inode mode */
	__u32 links; /* its names; 0: deleted */
	enum object_class class;
	__u32 name_flags;
};

/*
 * A mount whose namespace is an error pointer is internal (MNT_NS_INTERNAL, fs/mount.h): either
 * kern_mount(), told by its superblock's flags, or a private clone that a stacked file system
 * made (clone_private_mount()). No task can hold a path on the latter except through the stacked
 * file system, whose own open is judged by its own path.
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
 * From a hook's own argument: typed loads cost a tenth of a probe read. false: no inode, which no
 * open file lacks.
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

/* From addresses only, for arguments that may be NULL behind the verifier's back. */
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

/* In a file system that the execution has made, where a name says nothing of what is run. */
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
 * The file behind a mapping. Since stacked file systems map their backing file (Linux 6.5,
 * struct backing_file), the path that the user opened stands beside it.
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
