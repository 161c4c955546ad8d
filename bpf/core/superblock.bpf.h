/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The file system of an object, and its properties. */
#ifndef CORDON_BPF_SUPERBLOCK_BPF_H
#define CORDON_BPF_SUPERBLOCK_BPF_H

#include "bpf/core/read.bpf.h"

static __always_inline __u64 super_block_of(__u64 dentry)
{
	return read_u64(FIELD(struct dentry, dentry, d_sb));
}

/*
 * Does the file system move directories only in vfs_rename(), which calls the rename hook? This
 * holds for file systems on a block device, for tmpfs, and for overlays, because their layers must
 * not be changed while mounted (Documentation/filesystems/overlayfs.rst). In others, a server or
 * the kernel itself may change names.
 */
static __always_inline bool moves_by_hook_in(__u64 super_block)
{
	__u64 magic = read_u64(FIELD(struct super_block, super_block, s_magic)), type;

	if (magic == TMPFS_MAGIC || magic == OVERLAYFS_MAGIC)
		return true;
	type = read_u64(FIELD(struct super_block, super_block, s_type));
	return read_u32(FIELD(struct file_system_type, type, fs_flags)) & FS_REQUIRES_DEV;
}

static __always_inline bool moves_by_hook(__u64 root)
{
	return moves_by_hook_in(super_block_of(root));
}

/*
 * Do inode number and generation identify one file of the file system for ever? Not in file systems
 * where each subvolume numbers its own inodes (btrfs, bcachefs).
 */
static __always_inline bool has_unique_numbers(__u64 super_block)
{
	__u64 magic = read_u64(FIELD(struct super_block, super_block, s_magic));

	return magic == EXT4_SUPER_MAGIC || magic == XFS_SUPER_MAGIC || magic == F2FS_SUPER_MAGIC;
}

/* Can a directory of the file system be made case-insensitive (ext4, f2fs, tmpfs)? */
static __always_inline bool may_fold_case(__u64 super_block)
{
	return bpf_core_field_exists(struct super_block, s_encoding) &&
	       read_u64(FIELD(struct super_block, super_block, s_encoding));
}

#endif
