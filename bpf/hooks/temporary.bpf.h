/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Record the owner of an inode when a name gets it: see core/temporary, core/links,
 * core/own_pipes and core/own_terminals.bpf.h.
 */
#ifndef CORDON_BPF_HOOK_TEMPORARY_BPF_H
#define CORDON_BPF_HOOK_TEMPORARY_BPF_H

#include "bpf/core/links.bpf.h"
#include "bpf/core/own_pipes.bpf.h"
#include "bpf/core/own_terminals.bpf.h"

/*
 * Is the inode new, rather than found by a lookup? The dentry of a new one is hashed already: its
 * name was looked up and was free. A lookup attaches the inode before it hashes the dentry
 * (d_splice_alias(), d_add()). Without this check, a creation that was granted and then failed
 * would pass to a later file with the same dentry address.
 */
static __always_inline bool is_being_made(__u64 dentry, __u64 inode)
{
	bool directory = S_ISDIR(read_u32(FIELD(struct inode, inode, i_mode)) & 0xffff);

	return read_u64(FIELD(struct dentry, dentry, d_hash.pprev)) &&
	       (directory || read_u32(FIELD(struct inode, inode, i_nlink)) == 1);
}

/* The same for a link. The kernel increments the link count before it attaches the inode. */
static __always_inline bool is_being_linked(__u64 dentry, __u64 inode)
{
	return read_u64(FIELD(struct dentry, dentry, d_hash.pprev)) &&
	       read_u32(FIELD(struct inode, inode, i_nlink)) > 1;
}

SEC("lsm/d_instantiate")
int BPF_PROG(cordon_d_instantiate, struct dentry *dentry, struct inode *inode)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 maker = (__u64)task, made = (__u64)dentry, given = (__u64)inode;
	const struct awaited *awaited;
	struct subject s;
	__u32 directory;

	if (!read_task(task)->bpf_storage)
		return 0;
	if (is_pipe_of_memory(given)) {
		if (subject_label(task, &s))
			note_own_pipe(&s, inode);
		return 0;
	}
	if (is_terminal_inode(given)) {
		if (subject_get(&s) == SUBJECT_EXECUTION)
			note_own_terminal(&s, given);
		return 0;
	}
	awaited = bpf_map_lookup_elem(&temporary_makers, &maker);
	if (!awaited || awaited->dentry != made)
		return 0;
	directory = awaited->directory;
	bpf_map_delete_elem(&temporary_makers, &maker);
	if (directory ? !is_being_linked(made, given) : !is_being_made(made, given))
		return 0;
	if (subject_get(&s) != SUBJECT_EXECUTION)
		return 0;
	if (directory)
		note_linked(s.execution, s.policy, given, directory - 1);
	else
		temporary_note(s.execution, given);
	return 0;
}

#endif
