/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * System V objects and keys. They carry no label and outlive the process that made them: without
 * a record of who made them, executions of one user could talk to each other and to the host.
 */
#ifndef CORDON_BPF_HOOK_IPC_BPF_H
#define CORDON_BPF_HOOK_IPC_BPF_H

#include "bpf/decide.bpf.h"

/* Who made a System V object, by its address; gone with the object. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct label);
} ipc_owners SEC(".maps");

/* Without a record the object would be nobody's: it is not made. */
static __always_inline int record_owner(__u64 object, int ret)
{
	struct subject s;

	if (ret || !subject_label(bpf_get_current_task_btf(), &s))
		return ret;
	if (bpf_map_update_elem(&ipc_owners, &object, &s.label, BPF_ANY))
		return -ENOMEM;
	return 0;
}

static __always_inline int forget_owner(__u64 object)
{
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

/* A user's keyring is shared by all that the user runs, the host's sessions included. */
SEC("lsm/key_permission")
int BPF_PROG(cordon_key_permission, void *key, const struct cred *cred, unsigned int need, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s, deny_number(&s, CORDON_OP_KEYRING, need, CORDON_REASON_BUILTIN, -EACCES));
}

#endif
