/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Operations on the host that no policy allows: changing the meaning of names for other processes,
 * loading kernel code, inspecting the kernel, and using other credentials.
 */
#ifndef CORDON_BPF_HOOK_HOST_BPF_H
#define CORDON_BPF_HOOK_HOST_BPF_H

#include "bpf/core/decide.bpf.h"
#include "bpf/core/own_namespaces.bpf.h"

#define REFUSE(operation, number)                                                                  \
	do {                                                                                       \
		if (ret)                                                                           \
			return ret;                                                                \
		return refuse_builtin(operation, number);                                          \
	} while (0)

/*
 * An execution may change mounts in namespaces that it made, if the policy allows it. The kernel
 * keeps these mounts out of other namespaces (copy_tree(), fs/namespace.c), and cordon resolves
 * names in the recorded mount namespace.
 */
static __always_inline int judge_mounts(__u64 number, bool allowed, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if (allowed && has_own_mounts(&s)) {
		s.execution->mounted = 1;
		return LEAVE(&s, 0);
	}
	return LEAVE(&s, deny_number(&s, CORDON_OP_MOUNT, number, CORDON_REASON_BUILTIN, -EPERM));
}

#define MS_NOTHING_NEW                                                                             \
	(MS_REMOUNT | MS_BIND | MS_MOVE | MS_UNBINDABLE | MS_PRIVATE | MS_SLAVE | MS_SHARED)

SEC("lsm/sb_mount")
int BPF_PROG(cordon_sb_mount, const char *dev_name, const struct path *path, const char *type,
	     unsigned long flags, void *data, int ret)
{
	bool plain = (flags & MS_NOTHING_NEW) || is_plain_type((__u64)type);

	return judge_mounts(flags, plain && may_mount_more(), ret);
}

SEC("lsm/sb_umount")
int BPF_PROG(cordon_sb_umount, struct vfsmount *mnt, int flags, int ret)
{
	return judge_mounts(flags, true, ret);
}

SEC("lsm/sb_pivotroot")
int BPF_PROG(cordon_sb_pivotroot, const struct path *old_path, const struct path *new_path, int ret)
{
	return judge_mounts(0, true, ret);
}

/*
 * Changes the file system, not the mount, so it is allowed only for a file system of the execution.
 */
SEC("lsm/sb_remount")
int BPF_PROG(cordon_sb_remount, struct super_block *sb, void *options, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if (has_own_mounts(&s) && is_own_superblock(&s, (__u64)sb))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_number(&s, CORDON_OP_MOUNT, 0, CORDON_REASON_BUILTIN, -EPERM));
}

SEC("lsm/move_mount")
int BPF_PROG(cordon_move_mount, const struct path *from, const struct path *to, int ret)
{
	return judge_mounts(0, may_mount_more(), ret);
}

/*
 * Records a file system that is created in a user namespace of the execution. Its type is not known
 * yet. Automounts, which the kernel creates during a path lookup, belong to the initial user
 * namespace.
 */
SEC("lsm/sb_alloc_security")
int BPF_PROG(cordon_sb_alloc, struct super_block *sb, int ret)
{
	struct subject s;

	if (ret || subject_get(&s) != SUBJECT_EXECUTION)
		return ret;
	if (!has_own_namespaces(&s) ||
	    !is_own_user_namespace(&s, read_u64(FIELD(struct super_block, sb, s_user_ns))))
		return LEAVE(&s, 0);
	return LEAVE(&s, record_superblock(&s, (__u64)sb));
}

/* Runs in the context of the task that drops the last reference. */
SEC("lsm/sb_free_security")
int BPF_PROG(cordon_sb_free, struct super_block *sb)
{
	forget_superblock((__u64)sb);
	return 0;
}

/*
 * mount(2) and fsmount(2), with the file system created: checks its real type, whatever was
 * requested.
 */
SEC("lsm/sb_kern_mount")
int BPF_PROG(cordon_sb_kern_mount, struct super_block *sb, int ret)
{
	__u64 address = (__u64)sb;
	struct subject s;

	ENTER(&s, ret);
	if (!has_own_namespaces(&s) ||
	    (is_own_superblock(&s, address) &&
	     is_plain_magic(read_u64(FIELD(struct super_block, address, s_magic)))))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_number(&s, CORDON_OP_MOUNT, 0, CORDON_REASON_BUILTIN, -EPERM));
}

/*
 * Runs for each parameter of a file system to be created, by fsconfig(2) too. It keeps other types
 * from parsing any parameter.
 */
SEC("lsm/fs_context_parse_param")
int BPF_PROG(cordon_fs_parameter, struct fs_context *fc, struct fs_parameter *parameter, int ret)
{
	__u64 type;
	struct subject s;

	if (ret || subject_get(&s) != SUBJECT_EXECUTION)
		return ret;
	if (!has_own_namespaces(&s))
		return LEAVE(&s, 0);
	type = read_u64(FIELD(struct fs_context, fc, fs_type));
	if (is_plain_type(read_u64(FIELD(struct file_system_type, type, name))))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_number(&s, CORDON_OP_MOUNT, 0, CORDON_REASON_BUILTIN, -EPERM));
}

SEC("lsm/quotactl")
int BPF_PROG(cordon_quotactl, int commands, int type, int id, const struct super_block *sb, int ret)
{
	REFUSE(CORDON_OP_MOUNT, commands);
}

/* Reading the kernel log requires the capability even if the host lets all users read it. */
SEC("lsm/syslog")
int BPF_PROG(cordon_syslog, int type, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if ((s.policy->capabilities >> CAP_SYSLOG) & 1)
		return LEAVE(&s, 0);
	return LEAVE(&s,
		     deny_number(&s, CORDON_OP_CAPABLE, CAP_SYSLOG, CORDON_REASON_DEFAULT, -EPERM));
}

/*
 * Allowed in a user namespace of the execution, even with the host's mounts. A task's root does not
 * affect the names that are checked, and programs there gain no privilege from set-id bits.
 */
SEC("lsm/path_chroot")
int BPF_PROG(cordon_path_chroot, const struct path *path, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if (has_own_namespaces(&s) &&
	    is_own_user_namespace(&s, user_namespace_of(bpf_get_current_task_btf())))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_number(&s, CORDON_OP_CHROOT, 0, CORDON_REASON_BUILTIN, -EPERM));
}

SEC("?lsm/bpf")
int BPF_PROG(cordon_bpf, int cmd, union bpf_attr *attr, unsigned int size, int ret)
{
	REFUSE(CORDON_OP_BPF, cmd);
}

/* Since Linux 6.15, a parameter marks calls by the kernel itself. */
SEC("?lsm/bpf")
int BPF_PROG(cordon_bpf_4, int cmd, union bpf_attr *attr, unsigned int size, bool kernel, int ret)
{
	REFUSE(CORDON_OP_BPF, cmd);
}

SEC("lsm/bpf_map")
int BPF_PROG(cordon_bpf_map, struct bpf_map *map, unsigned int mode, int ret)
{
	REFUSE(CORDON_OP_BPF, 0);
}

SEC("lsm/bpf_prog")
int BPF_PROG(cordon_bpf_prog, struct bpf_prog *prog, int ret)
{
	REFUSE(CORDON_OP_BPF, 0);
}

/* Linux 6.12 dropped the first argument. */
SEC("?lsm/perf_event_open")
int BPF_PROG(cordon_perf_event_open, int type, int ret)
{
	REFUSE(CORDON_OP_PERF, type);
}

SEC("?lsm/perf_event_open")
int BPF_PROG(cordon_perf_event_open_2, struct perf_event_attr *attr, int type, int ret)
{
	REFUSE(CORDON_OP_PERF, type);
}

SEC("lsm/kernel_read_file")
int BPF_PROG(cordon_kernel_read_file, struct file *file, int id, bool contents, int ret)
{
	REFUSE(CORDON_OP_KERNEL_LOAD, id);
}

SEC("lsm/kernel_load_data")
int BPF_PROG(cordon_kernel_load_data, int id, bool contents, int ret)
{
	REFUSE(CORDON_OP_KERNEL_LOAD, id);
}

/* Automatic loading of a module, for a protocol or file system that a task names. */
SEC("lsm/kernel_module_request")
int BPF_PROG(cordon_kernel_module_request, char *name, int ret)
{
	REFUSE(CORDON_OP_KERNEL_LOAD, 0);
}

/*
 * Credentials that a ring holds from before the label would count as the kernel's: see
 * core/credentials.bpf.h.
 */
SEC("lsm/uring_override_creds")
int BPF_PROG(cordon_uring_override_creds, const struct cred *new, int ret)
{
	REFUSE(CORDON_OP_IO_URING, 0);
}

SEC("lsm/uring_sqpoll")
int BPF_PROG(cordon_uring_sqpoll, int ret)
{
	REFUSE(CORDON_OP_IO_URING, 1);
}

#endif
