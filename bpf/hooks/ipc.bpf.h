/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * System V objects and keys. They carry no label and outlive the process that made them: without
 * a record of who made them, executions of one user could talk to each other and to the host.
 */
#ifndef CORDON_BPF_HOOK_IPC_BPF_H
#define CORDON_BPF_HOOK_IPC_BPF_H

#include "bpf/core/decide.bpf.h"

/* Who made a System V object, by its address; gone with the object. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct label);
} ipc_owners SEC(".maps");

static __always_inline struct cordon_execution *execution_of(const struct label *label)
{
	__u32 key = label->slot;
	struct cordon_execution *execution = bpf_map_lookup_elem(&executions, &key);

	return execution && execution->generation == label->generation ? execution : 0;
}

/*
 * Without a record the object would be nobody's: it is not made. Nor are so many that others would find no
 * room for theirs.
 */
static __always_inline int record_owner(__u64 object, int ret)
{
	struct cordon_execution *execution;
	struct subject s;

	if (ret || !subject_label(bpf_get_current_task_btf(), &s))
		return ret;
	execution = execution_of(&s.label);
	if (!execution)
		return -EACCES;
	if (__sync_fetch_and_add(&execution->ipc_objects, 1) < CORDON_MAX_IPC &&
	    bpf_map_update_elem(&ipc_owners, &object, &s.label, BPF_ANY) == 0)
		return 0;
	__sync_fetch_and_add(&execution->ipc_objects, -1);
	return -ENOSPC;
}

static __always_inline int forget_owner(__u64 object)
{
	const struct label *owner = bpf_map_lookup_elem(&ipc_owners, &object);
	struct cordon_execution *execution;

	if (!owner)
		return 0;
	execution = execution_of(owner);
	if (execution)
		__sync_fetch_and_add(&execution->ipc_objects, -1);
	bpf_map_delete_elem(&ipc_owners, &object);
	return 0;
}

SEC("lsm/shm_alloc_security")
int BPF_PROG(cordon_shm_alloc, struct kern_ipc_perm *object, int ret)
{
	return record_owner((__u64)object, ret);
}

SEC("lsm/shm_free_security")
int BPF_PROG(cordon_shm_free, struct kern_ipc_perm *object)
{
	return forget_owner((__u64)object);
}

SEC("lsm/sem_alloc_security")
int BPF_PROG(cordon_sem_alloc, struct kern_ipc_perm *object, int ret)
{
	return record_owner((__u64)object, ret);
}

SEC("lsm/sem_free_security")
int BPF_PROG(cordon_sem_free, struct kern_ipc_perm *object)
{
	return forget_owner((__u64)object);
}

SEC("lsm/msg_queue_alloc_security")
int BPF_PROG(cordon_msg_queue_alloc, struct kern_ipc_perm *object, int ret)
{
	return record_owner((__u64)object, ret);
}

SEC("lsm/msg_queue_free_security")
int BPF_PROG(cordon_msg_queue_free, struct kern_ipc_perm *object)
{
	return forget_owner((__u64)object);
}

/* Every use: attach, send, receive, operate, control. */
SEC("lsm/ipc_permission")
int BPF_PROG(cordon_ipc_permission, struct kern_ipc_perm *object, short flag, int ret)
{
	__u64 address = (__u64)object;
	const struct label *owner;
	struct subject s;

	ENTER(&s, ret);
	owner = bpf_map_lookup_elem(&ipc_owners, &address);
	if (owner && same_label(owner, &s.label))
		return LEAVE(&s, 0);
	return LEAVE(&s,
		     deny_number(&s, CORDON_OP_IPC, object->id, CORDON_REASON_FOREIGN, -EACCES));
}

/*
 * Control of an object: removing and changing it ask nobody else. NULL for what speaks of all objects,
 * behind newer verifiers' back.
 */
static __always_inline int judge_control(void *ctx, int ret)
{
	const struct label *owner;
	struct subject s;
	__u64 object = 0;

	ENTER(&s, ret);
	if (bpf_get_func_arg(ctx, 0, &object))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_IPC));
	if (!object)
		return LEAVE(&s, 0);
	owner = bpf_map_lookup_elem(&ipc_owners, &object);
	if (owner && same_label(owner, &s.label))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_number(&s, CORDON_OP_IPC,
				     read_u32(FIELD(struct kern_ipc_perm, object, id)),
				     CORDON_REASON_FOREIGN, -EACCES));
}

SEC("lsm/shm_shmctl")
int BPF_PROG(cordon_shm_control, struct kern_ipc_perm *unused, int cmd, int ret)
{
	return judge_control(ctx, ret);
}

SEC("lsm/sem_semctl")
int BPF_PROG(cordon_sem_control, struct kern_ipc_perm *unused, int cmd, int ret)
{
	return judge_control(ctx, ret);
}

SEC("lsm/msg_queue_msgctl")
int BPF_PROG(cordon_msg_queue_control, struct kern_ipc_perm *unused, int cmd, int ret)
{
	return judge_control(ctx, ret);
}

/*
 * POSIX message queues are opened as files without a path, which is refused; made and removed they are
 * past the hooks that know a path.
 */
static __always_inline int judge_queue(const struct inode *directory, int ret)
{
	struct subject s;

	if (ret || directory->i_sb->s_magic != MQUEUE_MAGIC)
		return ret;
	ENTER(&s, ret);
	return LEAVE(&s, deny_number(&s, CORDON_OP_IPC, 0, CORDON_REASON_BUILTIN, -EACCES));
}

SEC("lsm/inode_create")
int BPF_PROG(cordon_inode_create, struct inode *directory, struct dentry *dentry, umode_t mode,
	     int ret)
{
	return judge_queue(directory, ret);
}

SEC("lsm/inode_unlink")
int BPF_PROG(cordon_inode_unlink, struct inode *directory, struct dentry *dentry, int ret)
{
	return judge_queue(directory, ret);
}

/* Keys that nobody may use need not be made; making some has the kernel run a program of the host's. */
SEC("lsm/key_alloc")
int BPF_PROG(cordon_key_alloc, void *key, const struct cred *cred, unsigned long flags, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s, deny_number(&s, CORDON_OP_KEYRING, 0, CORDON_REASON_BUILTIN, -EACCES));
}

/* A user's keyring is shared by all that the user runs, the host's sessions included. */
SEC("lsm/key_permission")
int BPF_PROG(cordon_key_permission, void *key, const struct cred *cred, unsigned int need, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s, deny_number(&s, CORDON_OP_KEYRING, need, CORDON_REASON_BUILTIN, -EACCES));
}

#endif
