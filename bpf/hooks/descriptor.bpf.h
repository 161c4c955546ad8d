/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What is done with a file besides reading and writing: control, ownership, locks, leases, watching. */
#ifndef CORDON_BPF_HOOK_DESCRIPTOR_BPF_H
#define CORDON_BPF_HOOK_DESCRIPTOR_BPF_H

#include "bpf/core/object.bpf.h"

/* What has a name must grant `right`; what has none is reached by descriptor only. */
static __always_inline int judge_handling(struct subject *s, const struct path *path,
					  __u32 operation, __u32 right)
{
	struct file_object o;

	if (!inspect(path, &o))
		return deny_unasked(s, operation);
	if (o.class != CLASS_NAMED)
		return o.class == CLASS_NAMESPACE ? deny_unasked(s, operation) : 0;
	if (right == CORDON_READ && S_ISDIR(o.mode))
		o.name_flags |= NAME_LISTING;
	return decide_name(s, operation, o.dentry, o.vfsmount,
			   NAME_QUESTION(CORDON_RIGHT(right), o.name_flags));
}

/*
 * The process's number as it knows it itself: in the innermost of its namespaces. Addresses that have been through memory are
 * plain numbers to the verifier, which takes no computed index into what a pointer of the kernel's leads to.
 */
static __always_inline __u32 own_number(struct task_struct *task)
{
	__u64 pid = read_u64(FIELD(struct signal_struct, task->signal, pids[PIDTYPE_TGID]));
	__u32 level = read_u32(FIELD(struct pid, pid, level));

	return read_u32(FIELD(struct pid, pid, numbers) + FIELD(struct upid, 0, nr) +
			(__u64)level * bpf_core_type_size(struct upid));
}

/*
 * Signals that the kernel sends on somebody's behalf (F_SETOWN, SIOCSPGRP) never pass task_kill:
 * an execution may name itself as the recipient, nobody else.
 */
static __always_inline int judge_owner(struct subject *s, unsigned int cmd, unsigned long arg)
{
	if (arg == 0 || arg == own_number(bpf_get_current_task_btf()))
		return 0;
	return deny_number(s, CORDON_OP_SIGNAL, cmd, CORDON_REASON_BUILTIN, -EPERM);
}

/* Part of the file before Linux 6.12, of its own from there on. */
struct fown_struct___any {
	struct pid *pid;
} __attribute__((preserve_access_index));

struct file___owner_inside {
	struct fown_struct___any f_owner;
} __attribute__((preserve_access_index));

struct file___owner_beside {
	struct fown_struct___any *f_owner;
} __attribute__((preserve_access_index));

/* Whom the kernel sends the file's signals to, as a struct pid; 0: nobody. */
static __always_inline __u64 owner_of(struct file *file)
{
	__u64 owner;

	if (bpf_core_field_exists(((struct file___owner_inside *)0)->f_owner)) {
		owner = FIELD(struct file___owner_inside, file, f_owner);
	} else {
		owner = read_u64(FIELD(struct file___owner_beside, file, f_owner));
		if (!owner)
			return 0;
	}
	return read_u64(FIELD(struct fown_struct___any, owner, pid));
}

/*
 * Which signal a file sends, and whether, is for its receiver to say: the descriptor may have come from outside with
 * another's process in it. Where nobody is named yet, the other may still name itself; a terminal names its group.
 */
static __always_inline int judge_signal(struct file *file, unsigned int cmd, bool nobodys)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 owner = owner_of(file);

	if (owner ? owner == (__u64)task->signal->pids[PIDTYPE_TGID] : nobodys)
		return 0;
	return refuse_builtin(CORDON_OP_SIGNAL, cmd);
}

static __always_inline bool is_on_disk(struct file *file)
{
	__u32 type = file->f_inode->i_mode & S_IFMT;

	return type == S_IFREG || type == S_IFDIR;
}

static __always_inline bool is_device(struct file *file)
{
	return (file->f_inode->i_mode & S_IFMT) == S_IFCHR;
}

static __always_inline bool sets_owner(unsigned int cmd)
{
	return cmd == F_SETOWN || cmd == F_SETOWN_EX;
}

static __always_inline bool takes_lease(unsigned int cmd, unsigned long arg)
{
	return cmd == F_SETLEASE && arg != F_UNLCK;
}

SEC("lsm/file_fcntl")
int BPF_PROG(cordon_file_fcntl, struct file *file, unsigned int cmd, unsigned long arg, int ret)
{
	struct subject s;

	if (ret)
		return ret;
	if (cmd == F_SETSIG)
		return judge_signal(file, cmd, is_on_disk(file));
	if (cmd == F_SETFL && (arg & O_ASYNC))
		return judge_signal(file, cmd, !is_device(file));
	if (!(sets_owner(cmd) || takes_lease(cmd, arg)))
		return 0;
	ENTER(&s, ret);
	/* Whoever opens the file waits for the lease's holder: more than reading it. */
	if (cmd == F_SETLEASE)
		return LEAVE(&s, judge_handling(&s, &file->f_path, CORDON_OP_OPEN, CORDON_WRITE));
	/* F_SETOWN_EX passes a pointer: its target cannot be told without a race. */
	return LEAVE(&s, judge_owner(&s, cmd, cmd == F_SETOWN_EX ? ~0ul : arg));
}

/* To lock others out of a file takes no less than to write it; flock(2) alone does not ask for that. */
SEC("lsm/file_lock")
int BPF_PROG(cordon_file_lock, struct file *file, unsigned int cmd, int ret)
{
	struct subject s;

	if (ret || cmd != F_WRLCK || (file->f_mode & FMODE_WRITE))
		return ret;
	ENTER(&s, ret);
	return LEAVE(&s, judge_handling(&s, &file->f_path, CORDON_OP_OPEN, CORDON_WRITE));
}

/*
 * Watching tells what is opened, made and renamed: for a directory as much as listing it again and
 * again. Whole mounts and file systems, and events that wait for the watcher's leave, are the host's.
 */
SEC("lsm/path_notify")
int BPF_PROG(cordon_path_notify, const struct path *path, __u64 mask, unsigned int type, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if (type != FSNOTIFY_INODE || (mask & FAN_PERMISSION_EVENTS))
		return LEAVE(&s,
			     deny_number(&s, CORDON_OP_OPEN, mask, CORDON_REASON_BUILTIN, -EPERM));
	return LEAVE(&s, judge_handling(&s, path, CORDON_OP_OPEN, CORDON_READ));
}

enum ioctl_kind {
	IOCTL_HARMLESS,
	IOCTL_WRITES, /* changes the file, though it need not be open for writing */
	IOCTL_OTHER,  /* the whole file system, or what nobody here knows */
};

/* Of regular files and directories. Terminals' commands come to nothing there, yet isatty(3) is asked. */
static __always_inline enum ioctl_kind kind_of_ioctl(unsigned int cmd)
{
	if (((cmd >> 8) & 0xff) == 'T')
		return IOCTL_HARMLESS;
	switch (cmd) {
	case FIBMAP:
	case FIGETBSZ:
	case FS_IOC_FIEMAP:
	case FS_IOC_GETFLAGS:
	case FS_IOC32_GETFLAGS:
	case FS_IOC_GETVERSION:
	case FS_IOC32_GETVERSION:
	case FS_IOC_FSGETXATTR:
	case FS_IOC_GETFSLABEL:
	case FS_IOC_MEASURE_VERITY:
	/* The file must be open for writing. */
	case FICLONE:
	case FICLONERANGE:
	case FIDEDUPERANGE:
		return IOCTL_HARMLESS;
	case FS_IOC_SETFLAGS:
	case FS_IOC32_SETFLAGS:
	case FS_IOC_SETVERSION:
	case FS_IOC32_SETVERSION:
	case FS_IOC_FSSETXATTR:
	case FS_IOC_ENABLE_VERITY:
		return IOCTL_WRITES;
	default:
		return IOCTL_OTHER;
	}
}

static __always_inline int judge_file_ioctl(struct file *file, unsigned int cmd)
{
	enum ioctl_kind kind = kind_of_ioctl(cmd);
	struct subject s;

	if (kind == IOCTL_HARMLESS)
		return 0;
	if (kind == IOCTL_OTHER)
		return refuse_builtin(CORDON_OP_IOCTL, cmd);
	ENTER(&s, 0);
	return LEAVE(&s, judge_handling(&s, &file->f_path, CORDON_OP_IOCTL, CORDON_WRITE));
}

static __always_inline int judge_ioctl(struct file *file, unsigned int cmd, int ret)
{
	__u32 mode;

	if (ret)
		return ret;
	switch (cmd) {
	/* Typing into a terminal is running commands in the shell that reads it; so is a key that types. */
	case TIOCSTI:
	case TIOCLINUX:
	case TIOCCONS:
	case TIOCVHANGUP:
	case KDSKBENT:
	case KDSKBSENT:
	case KDSETKEYCODE:
	case FIOSETOWN:
	case SIOCSPGRP:
		return refuse_builtin(CORDON_OP_IOCTL, cmd);
	case FIOASYNC:
		return judge_signal(file, cmd, !is_device(file));
	default:
		break;
	}
	mode = file->f_inode->i_mode & S_IFMT;
	if ((mode != S_IFREG && mode != S_IFDIR) ||
	    file->f_inode->i_sb->s_magic == PROC_SUPER_MAGIC)
		return 0;
	return judge_file_ioctl(file, cmd);
}

SEC("lsm/file_ioctl")
int BPF_PROG(cordon_file_ioctl, struct file *file, unsigned int cmd, unsigned long arg, int ret)
{
	return judge_ioctl(file, cmd, ret);
}

SEC("?lsm/file_ioctl_compat")
int BPF_PROG(cordon_file_ioctl_compat, struct file *file, unsigned int cmd, unsigned long arg,
	     int ret)
{
	return judge_ioctl(file, cmd, ret);
}

#endif
