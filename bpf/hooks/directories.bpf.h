/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * For the directory cache: what makes another directory of a name or of an address is counted, for
 * whoever does it, in an execution or not. Attached before all that remembers by the count.
 */
#ifndef CORDON_BPF_HOOK_DIRECTORIES_BPF_H
#define CORDON_BPF_HOOK_DIRECTORIES_BPF_H

#include "bpf/core/directory_cache.bpf.h"
#include "bpf/core/links.bpf.h"

/*
 * The result is used, so that it is in order: after the locks of a move, and before what the kernel
 * does next.
 */
static __always_inline void count_change(void)
{
	__u32 key = 0;
	__u64 *changes = bpf_map_lookup_elem(&changed_directories, &key), before;

	if (!changes)
		return;
	before = __sync_fetch_and_add(changes, 1);
	barrier_var(before);
}

/* Should a kernel move directories without the lock that climbs look at, nothing is remembered. */
static __always_inline void stop_remembering(void)
{
	__u32 key = 0;
	__u64 *changes = bpf_map_lookup_elem(&changed_directories, &key);

	if (changes)
		__sync_fetch_and_or(changes, NOTHING_REMEMBERED);
}

/* Of an exchange, the kernel tells twice. */
SEC("lsm/inode_rename")
int BPF_PROG(cordon_inode_rename, struct inode *old_dir, struct dentry *old_dentry,
	     struct inode *new_dir, struct dentry *new_dentry, int ret)
{
	__u64 inode = read_u64(FIELD(struct dentry, old_dentry, d_inode));

	if (!S_ISDIR(read_u32(FIELD(struct inode, inode, i_mode)) & 0xffff))
		return ret;
	if (!is_changed_inside((__u64)old_dir))
		stop_remembering();
	count_change();
	return ret;
}

/* May files of the file system be known by the addresses of their inodes? */
static __always_inline bool may_have_address(__u64 super_block)
{
	return moves_by_hook_in(super_block) && !has_unique_numbers(super_block);
}

static __always_inline void forget_file(const struct temporary_file *file)
{
	temporary_forget(file);
	forget_links(file);
}

/* `gone`: its last name is. Else the kernel may read the inode again, at another address. */
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
 * From here on, the inode's address may come to mean another directory. Runs for whoever lets go of
 * the inode last; `current` has nothing to do with it. Those of procfs, which go with processes,
 * are never remembered (DCACHE_OP_REVALIDATE).
 */
SEC("lsm/inode_free_security")
int BPF_PROG(cordon_inode_free, struct inode *inode)
{
	if (S_ISDIR(inode->i_mode) && inode->i_sb->s_magic != PROC_SUPER_MAGIC)
		count_change();
	if (inode->i_nlink == 0 || may_have_address((__u64)inode->i_sb))
		forget_freed((__u64)inode, inode->i_nlink == 0);
	return 0;
}

#endif
