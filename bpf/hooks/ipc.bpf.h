/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * System V objects, message queues and keys. System V objects carry no label and outlive the
 * process that made them. Without a record of their maker, executions of one user could communicate
 * with each other and with the host.
 */
#ifndef CORDON_BPF_HOOK_IPC_BPF_H
#define CORDON_BPF_HOOK_IPC_BPF_H

#include "bpf/core/decide.bpf.h"
#include "bpf/core/credentials.bpf.h"

/*
 * Maker of a System V object. The hook runs before the object has its number: see
 * cordon_list_ipc().
 */
struct ipc_owner {
	struct label label;
	__u64 namespace; /* struct ipc_namespace */
	__u32 kind;	 /* enum cordon_ipc_kind */
	__u32 user;	 /* the user that is charged for it */
};

/* By the object's address; deleted with the object. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, IPC_ALL);
	__type(key, __u64);
	__type(value, struct ipc_owner);
} ipc_owners SEC(".maps");

/* Result of the last cordon_list_ipc(). The daemon makes one request at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cordon_ipc_list);
} ipc_list SEC(".maps");

/*
 * Records the maker of a new object. Without a record the object would belong to no execution, so
 * its creation fails. It also fails above the execution's limit and the user's share.
 */
static __always_inline int record_owner(__u64 object, __u32 kind, int ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cordon_execution *execution;
	struct ipc_owner owner = {.kind = kind};
	struct subject s;
	__u64 held;

	if (ret || !subject_label(task, &s))
		return ret;
	execution = execution_of(&s.label);
	if (!execution)
		return -EACCES;
	owner.label = s.label;
	owner.namespace = (__u64)read_task(task)->nsproxy->ipc_ns;
	owner.user = execution->user;
	held = __sync_fetch_and_add(&execution->ipc_objects, 1);
	if (held < IPC_EACH && share_take(owner.user, CORDON_SHARE_IPC, IPC_ALL, held)) {
		if (bpf_map_update_elem(&ipc_owners, &object, &owner, BPF_NOEXIST) == 0)
			return 0;
		share_give_back(owner.user, CORDON_SHARE_IPC);
	}
	__sync_fetch_and_add(&execution->ipc_objects, -1);
	return -ENOSPC;
}

static __always_inline int forget_owner(__u64 object)
{
	const struct ipc_owner *found = bpf_map_lookup_elem(&ipc_owners, &object);
	struct cordon_execution *execution;
	struct label label;
	__u32 user;

	if (!found)
		return 0;
	label = found->label;
	user = found->user;
	if (bpf_map_delete_elem(&ipc_owners, &object))
		return 0;
	share_give_back(user, CORDON_SHARE_IPC);
	execution = execution_of(&label);
	if (execution)
		__sync_fetch_and_add(&execution->ipc_objects, -1);
	return 0;
}

SEC("lsm/shm_alloc_security")
int BPF_PROG(cordon_shm_alloc, struct kern_ipc_perm *object, int ret)
{
	return record_owner((__u64)object, CORDON_IPC_SHM, ret);
}

SEC("lsm/shm_free_security")
int BPF_PROG(cordon_shm_free, struct kern_ipc_perm *object)
{
	return forget_owner((__u64)object);
}

SEC("lsm/sem_alloc_security")
int BPF_PROG(cordon_sem_alloc, struct kern_ipc_perm *object, int ret)
{
	return record_owner((__u64)object, CORDON_IPC_SEM, ret);
}

SEC("lsm/sem_free_security")
int BPF_PROG(cordon_sem_free, struct kern_ipc_perm *object)
{
	return forget_owner((__u64)object);
}

SEC("lsm/msg_queue_alloc_security")
int BPF_PROG(cordon_msg_queue_alloc, struct kern_ipc_perm *object, int ret)
{
	return record_owner((__u64)object, CORDON_IPC_MSG, ret);
}

SEC("lsm/msg_queue_free_security")
int BPF_PROG(cordon_msg_queue_free, struct kern_ipc_perm *object)
{
	return forget_owner((__u64)object);
}

/* Runs for every use: attach, send, receive, operate, control. */
SEC("lsm/ipc_permission")
int BPF_PROG(cordon_ipc_permission, struct kern_ipc_perm *object, short flag, int ret)
{
	__u64 address = (__u64)object;
	const struct ipc_owner *owner;
	struct subject s;

	ENTER(&s, ret);
	owner = bpf_map_lookup_elem(&ipc_owners, &address);
	if (owner && same_label(&owner->label, &s.label))
		return LEAVE(&s, 0);
	return LEAVE(&s,
		     deny_number(&s, CORDON_OP_IPC, object->id, CORDON_REASON_FOREIGN, -EACCES));
}

/*
 * Control of an object, which includes removal and change: other hooks do not check these. The
 * object is NULL for commands that concern all objects. Newer verifiers assume that it is not NULL,
 * so it is read with bpf_get_func_arg().
 */
static __always_inline int judge_control(void *ctx, int ret)
{
	const struct ipc_owner *owner;
	struct subject s;
	__u64 object = 0;

	ENTER(&s, ret);
	if (bpf_get_func_arg(ctx, 0, &object))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_IPC));
	if (!object)
		return LEAVE(&s, 0);
	owner = bpf_map_lookup_elem(&ipc_owners, &object);
	if (owner && same_label(&owner->label, &s.label))
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

struct ipc_search {
	struct label label;
	__u64 namespace;
};

static long note_object(void *map, const __u64 *object, const struct ipc_owner *owner,
			const struct ipc_search *search)
{
	struct cordon_ipc_list *list;
	__u32 key = 0, at;

	if (!same_label(&owner->label, &search->label) || owner->namespace != search->namespace)
		return 0;
	list = bpf_map_lookup_elem(&ipc_list, &key);
	if (!list)
		return 1;
	at = list->count;
	if (at >= CORDON_MAX_IPC)
		return 1;
	list->objects[at].kind = owner->kind;
	list->objects[at].id = (__s32)read_u32(FIELD(struct kern_ipc_perm, *object, id));
	list->count = at + 1;
	return 0;
}

/*
 * Lists in ipc_list the System V objects of an execution that has no task left. Skips objects in
 * IPC namespaces other than the caller's: their numbers mean other objects here, and they are freed
 * with their namespace.
 */
SEC("syscall")
int cordon_list_ipc(struct cordon_list_ipc *request)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ipc_search search = {
		.label = {.slot = request->slot, .generation = request->generation},
		.namespace = (__u64)read_task(task)->nsproxy->ipc_ns,
	};
	struct cordon_ipc_list *list;
	__u32 key = 0;

	list = bpf_map_lookup_elem(&ipc_list, &key);
	if (!list)
		return 0;
	list->count = 0;
	bpf_for_each_map_elem(&ipc_owners, note_object, &search, 0);
	return 0;
}

/*
 * POSIX message queues are always denied. Opening one is denied as a file without a path. Creation
 * and removal do not pass the hooks that have a path, so they are denied here.
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

/*
 * Creating keys is denied: an execution may use no key, and for some types the kernel runs a
 * program of the host.
 */
SEC("lsm/key_alloc")
int BPF_PROG(cordon_key_alloc, void *key, const struct cred *cred, unsigned long flags, int ret)
{
	struct subject s;

	if (kernel_acts_for_itself())
		return ret;
	ENTER(&s, ret);
	return LEAVE(&s, deny_number(&s, CORDON_OP_KEYRING, 0, CORDON_REASON_BUILTIN, -EACCES));
}

/*
 * Using keys is denied: a user's keyring is shared by all processes of the user, the host's
 * sessions included. Network file systems have their own keyring for the names of users and
 * servers, and use it with the kernel's credentials (nfs_idmap_get_key()).
 */
SEC("lsm/key_permission")
int BPF_PROG(cordon_key_permission, void *key, const struct cred *cred, unsigned int need, int ret)
{
	struct subject s;

	if (kernel_acts_for_itself())
		return ret;
	ENTER(&s, ret);
	return LEAVE(&s, deny_number(&s, CORDON_OP_KEYRING, need, CORDON_REASON_BUILTIN, -EACCES));
}

#endif
