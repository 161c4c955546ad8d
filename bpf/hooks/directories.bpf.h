/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * For the directory cache: counts moves of directories and freed inodes of directories, whichever
 * task causes them. Attached before all programs that use the cache.
 */
#ifndef CORDON_BPF_HOOK_DIRECTORIES_BPF_H
#define CORDON_BPF_HOOK_DIRECTORIES_BPF_H

#include "bpf/core/directory_cache.bpf.h"
#include "bpf/core/links.bpf.h"
#include "bpf/core/own_terminals.bpf.h"

/*
 * The result is used, so that the operation is ordered: after the locks that the kernel took for
 * the move, and before its next steps.
 */
static __always_inline void count_change(__u64 *changes)
{
	__u64 before;

	if (!changes)
		return;
	before = __sync_fetch_and_add(changes, 1);
	barrier_var(before);
}

static __always_inline void count_move(void)
{
	__u32 key = 0;

	count_change(bpf_map_lookup_elem(&changed_directories, &key));
}

static __always_inline void count_freed(const struct inode *inode)
{
	__u64 address = (__u64)inode, number = 0;
	__u32 key;

	/* Copied, because the verifier permits no multiplication of a pointer. */
	bpf_probe_read_kernel(&number, sizeof(number), &address);
	key = freed_key(number);
	count_change(bpf_map_lookup_elem(&freed_directories, &key));
}

/* Disables the cache if a kernel moves directories without the lock of [D1]. */
static __always_inline void stop_remembering(void)
{
	__u32 key = 0;
	__u64 *changes = bpf_map_lookup_elem(&changed_directories, &key);

	if (changes)
		__sync_fetch_and_or(changes, NOTHING_REMEMBERED);
}

/* For an exchange, the kernel calls this hook twice. */
SEC("lsm/inode_rename")
int BPF_PROG(cordon_inode_rename, struct inode *old_dir, struct dentry *old_dentry,
	     struct inode *new_dir, struct dentry *new_dentry, int ret)
{
	__u64 inode = read_u64(FIELD(struct dentry, old_dentry, d_inode));

	if (!S_ISDIR(read_u32(FIELD(struct inode, inode, i_mode)) & 0xffff))
		return ret;
	if (!is_changed_inside((__u64)old_dir))
		stop_remembering();
	count_move();
	return ret;
}

/* May the inode address identify files of this file system? */
static __always_inline bool may_have_address(__u64 super_block)
{
	return moves_by_hook_in(super_block) && !has_unique_numbers(super_block);
}

static __always_inline void forget_file(const struct temporary_file *file)
{
	temporary_forget(file);
	forget_links(file);
}

/*
 * With `gone`, the last name was removed. Otherwise the kernel may read the inode again, at another
 * address.
 */
static __noinline void forget_freed(__u64 inode, bool gone)
{
	struct temporary_file file;

	if (gone) {
		temporary_identify(inode, &file);
		forget_file(&file);
	}
	identify_by_address(inode, &file);
	forget_file(&file);
}

/*
 * After this hook the kernel may use the memory for another inode ([D4]). Runs in the task that
 * drops the last reference. Directories of procfs are freed with each process, and the cache never
 * holds them (DCACHE_OP_REVALIDATE).
 */
SEC("lsm/inode_free_security")
int BPF_PROG(cordon_inode_free, struct inode *inode)
{
	if (S_ISDIR(inode->i_mode) && inode->i_sb->s_magic != PROC_SUPER_MAGIC)
		count_freed(inode);
	if (inode->i_nlink == 0 || may_have_address((__u64)inode->i_sb))
		forget_freed((__u64)inode, inode->i_nlink == 0);
	if (inode->i_sb->s_magic == DEVPTS_SUPER_MAGIC)
		forget_terminal((__u64)inode);
	return 0;
}

#endif
