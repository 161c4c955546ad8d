/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Pipes that executions made by pipe(2). An execution may open its own ones again, in either
 * direction.
 *
 * The maker is recorded with the inode. So the record ends with the pipe, and needs no room in a
 * shared map. A FIFO of a file system has a name, which rules grant.
 */
#ifndef CORDON_BPF_OWN_PIPES_BPF_H
#define CORDON_BPF_OWN_PIPES_BPF_H

#include "bpf/core/subject.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_INODE_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct label);
} own_pipes SEC(".maps");

/*
 * `inode` may be NULL, so it is an address here: the verifier would assume that a pointer is not.
 */
static __always_inline bool is_pipe_of_memory(__u64 inode)
{
	__u64 super_block = inode ? read_u64(FIELD(struct inode, inode, i_sb)) : 0;

	return super_block &&
	       read_u64(FIELD(struct super_block, super_block, s_magic)) == PIPEFS_MAGIC;
}

/* The inode of a pipe gets its dentry once, in the call that makes the pipe. */
static __always_inline void note_own_pipe(const struct subject *s, struct inode *inode)
{
	struct label *maker =
		bpf_inode_storage_get(&own_pipes, inode, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (maker)
		*maker = s->label;
}

static __always_inline bool is_own_pipe(const struct subject *s, struct inode *inode)
{
	const struct label *maker = bpf_inode_storage_get(&own_pipes, inode, 0, 0);

	return maker && same_label(maker, &s->label);
}

#endif
