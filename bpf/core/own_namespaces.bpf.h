/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Namespaces that an execution makes (CORDON_POLICY_OWN_NAMESPACES), for example because its
 * programs start sandboxes. This file finds out which namespaces are its own, and records the file
 * systems that it has made in them.
 *
 * Names are always resolved in the mount namespace recorded with the label, so that mounts gain
 * nothing: see elsewhere.bpf.h. An execution can enter only the user namespace where it began, and
 * user namespaces that it makes. For others it would need a descriptor or a process that the hooks
 * deny. Therefore every other user namespace of its tasks is its own.
 */
#ifndef CORDON_BPF_OWN_NAMESPACES_BPF_H
#define CORDON_BPF_OWN_NAMESPACES_BPF_H

#include "bpf/core/kernel.bpf.h"
#include "bpf/core/subject.bpf.h"

/*
 * Limit for one namespace, including copies of the host's mounts. Checks of path aliases examine
 * all mounts of a file system, whichever execution made them.
 */
#define MOUNTS_PER_NAMESPACE 2048u

/*
 * File systems that executions made in their own user namespaces, by the superblock's address.
 * Exact, because the kernel reports the end of each superblock (sb_free_security).
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SUPERBLOCKS_ALL);
	__type(key, __u64);
	__type(value, struct owned);
} own_superblocks SEC(".maps");

/* kernel/user_namespace.c: 32 below the initial one */
#define USER_NAMESPACES_MAX 33

static __always_inline bool has_own_namespaces(const struct subject *s)
{
	return s->policy->flags & CORDON_POLICY_OWN_NAMESPACES;
}

static __always_inline __u64 owner_of_mounts(__u64 mount_namespace)
{
	return read_u64(FIELD(struct mnt_namespace, mount_namespace, user_ns));
}

static __always_inline __u32 user_namespace_level(__u64 user_namespace)
{
	return read_u32(FIELD(struct user_namespace, user_namespace, level));
}

static __always_inline __u64 user_namespace_of(const struct task_struct *task)
{
	return read_u64(FIELD(struct cred, read_task(task)->cred, user_ns));
}

static __always_inline __u32 share_user_of(const struct task_struct *task)
{
	return share_user(read_u32(FIELD(struct cred, read_task(task)->real_cred, uid)));
}

/* Records where an execution begins, when its first task is labelled. */
static __always_inline void note_reference(struct cordon_execution *execution,
					   const struct task_struct *task)
{
	__u64 mounts = (__u64)read_task(task)->nsproxy->mnt_ns;
	__u64 owner = owner_of_mounts(mounts), user = user_namespace_of(task);

	execution->user = share_user_of(task);
	execution->mount_namespace = mounts;
	execution->user_namespace = user;
	/*
	 * An owner above the task's namespace exists as long as the task. Another owner could be
	 * freed, and its address reused, so it is recorded as 0.
	 */
	execution->mount_owner = user_namespace_level(owner) <= user_namespace_level(user) ? owner
											   : 0;
}

/*
 * If a new execution was started by one that has changed its mounts, names are resolved in the
 * namespace recorded for that one.
 */
static __always_inline void inherit_reference(struct cordon_execution *execution,
					      const struct task_struct *task)
{
	const struct label *label = label_of_address((__u64)task);
	const struct cordon_execution *former = label ? execution_of(label) : 0;

	if (!former || !former->mounted)
		return;
	execution->mount_namespace = former->mount_namespace;
	execution->mount_owner = former->mount_owner;
	execution->mounted = 1;
}

/*
 * Is this the recorded mount namespace? It may have been freed after its last task left, and its
 * address reused for a namespace that the execution made. That one has another owner.
 */
static __always_inline bool is_reference(const struct subject *s, __u64 mount_namespace)
{
	const struct cordon_execution *execution = s->execution;

	if (mount_namespace != execution->mount_namespace)
		return false;
	return !has_own_namespaces(s) ||
	       (execution->mount_owner &&
		owner_of_mounts(mount_namespace) == execution->mount_owner);
}

/* Is this a user namespace that the execution has made? See above. */
static __always_inline bool is_own_user_namespace(const struct subject *s, __u64 user_namespace)
{
	__u64 first = s->execution->user_namespace;

	return user_namespace && first && user_namespace != first &&
	       user_namespace_level(user_namespace) > user_namespace_level(first);
}

/* Is the current task in a mount namespace that the execution has made? */
static __always_inline bool has_own_mounts(const struct subject *s)
{
	__u64 mounts = (__u64)read_task(bpf_get_current_task_btf())->nsproxy->mnt_ns;

	return has_own_namespaces(s) && mounts != s->execution->mount_namespace &&
	       is_own_user_namespace(s, owner_of_mounts(mounts));
}

static __always_inline bool may_mount_more(void)
{
	return mounts_in((__u64)read_task(bpf_get_current_task_btf())->nsproxy->mnt_ns) <
	       MOUNTS_PER_NAMESPACE;
}

static __always_inline const struct label *maker_of_superblock(__u64 super_block)
{
	const struct owned *found = bpf_map_lookup_elem(&own_superblocks, &super_block);

	return found ? &found->label : 0;
}

static __always_inline bool is_own_superblock(const struct subject *s, __u64 super_block)
{
	const struct label *maker = maker_of_superblock(super_block);

	return maker && same_label(maker, &s->label);
}

/* Returns 0, or -ENOMEM if there is no room, or if the execution has made too many. */
static __always_inline int record_superblock(const struct subject *s, __u64 super_block)
{
	struct cordon_execution *execution = s->execution;
	struct owned owned = {.label = s->label, .user = execution->user};
	__u32 held = __sync_fetch_and_add(&execution->superblocks, 1);

	if (held < SUPERBLOCKS_EACH &&
	    share_take(owned.user, CORDON_SHARE_SUPERBLOCKS, SUPERBLOCKS_ALL, held)) {
		if (bpf_map_update_elem(&own_superblocks, &super_block, &owned, BPF_NOEXIST) == 0)
			return 0;
		share_give_back(owned.user, CORDON_SHARE_SUPERBLOCKS);
	}
	__sync_fetch_and_add(&execution->superblocks, -1);
	return -ENOMEM;
}

static __always_inline void forget_superblock(__u64 super_block)
{
	const struct owned *found = bpf_map_lookup_elem(&own_superblocks, &super_block);
	struct cordon_execution *execution;
	struct owned owned;

	if (!found)
		return;
	owned = *found;
	if (bpf_map_delete_elem(&own_superblocks, &super_block))
		return;
	share_give_back(owned.user, CORDON_SHARE_SUPERBLOCKS);
	execution = execution_of(&owned.label);
	if (execution)
		__sync_fetch_and_add(&execution->superblocks, -1);
}

/*
 * File systems in memory, and file systems that show the execution itself. Other types read data
 * below them or contact a server, with credentials and in ways that no hook sees.
 */
static __always_inline bool is_plain_magic(__u64 magic)
{
	return magic == TMPFS_MAGIC || magic == PROC_SUPER_MAGIC || magic == DEVPTS_SUPER_MAGIC ||
	       magic == MQUEUE_MAGIC;
}

/* `name`: address of the type's name. */
static __always_inline bool is_plain_type(__u64 name)
{
	char text[8] = {};

	if (bpf_probe_read_kernel_str(text, sizeof(text), (const void *)name) <= 0)
		return false;
	return __builtin_memcmp(text, "tmpfs\0\0", 8) == 0 ||
	       __builtin_memcmp(text, "proc\0\0\0", 8) == 0 ||
	       __builtin_memcmp(text, "devpts\0", 8) == 0 ||
	       __builtin_memcmp(text, "mqueue\0", 8) == 0;
}

#endif
