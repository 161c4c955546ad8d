/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Checks on operations on open files besides read and write: control, ownership, locks, leases. */
#ifndef CORDON_BPF_HOOK_DESCRIPTOR_BPF_H
#define CORDON_BPF_HOOK_DESCRIPTOR_BPF_H

#include "bpf/core/held.bpf.h"
#include "bpf/core/kernel.bpf.h"
#include "bpf/core/links.bpf.h"
#include "bpf/hooks/terminal.bpf.h"

/* Requires `right` on the file's name. A file without a name is reached only by a descriptor. */
static __always_inline int judge_handling(struct subject *s, const struct path *path,
					  __u32 operation, __u32 right)
{
	struct file_object o;
	__u32 rights = CORDON_RIGHT(right);

	if (!inspect(path, &o))
		return deny_unasked(s, operation);
	if (o.class != CLASS_NAMED)
		return o.class == CLASS_NAMESPACE ? deny_unasked(s, operation) : 0;
	if (right == CORDON_READ && S_ISDIR(o.mode))
		o.name_flags |= NAME_LISTING;
	if (right == CORDON_WRITE)
		rights = rights_to_change(s, o.inode, o.mode, o.links);
	if (!subject_need_walk(s))
		return deny_unasked(s, operation);
	ask_name(s, o.dentry, o.vfsmount, NAME_QUESTION(rights, o.name_flags));
	return decide_path(s, operation, error_of_change(s));
}

/*
 * The process's number in its innermost pid namespace. Read through memory, because the verifier
 * allows no computed index behind a pointer that it tracks.
 */
static __always_inline __u32 own_number(struct task_struct *task)
{
	__u64 pid =
		read_u64(FIELD(struct signal_struct, read_task(task)->signal, pids[PIDTYPE_TGID]));
	__u32 level = read_u32(FIELD(struct pid, pid, level));

	return read_u32(FIELD(struct pid, pid, numbers) + FIELD(struct upid, 0, nr) +
			(__u64)level * bpf_core_type_size(struct upid));
}

/*
 * The kernel sends signals on behalf of a file's owner (F_SETOWN, SIOCSPGRP) without calling
 * task_kill. An execution may therefore set only its own process as the recipient.
 */
static __always_inline int judge_owner(struct subject *s, unsigned int cmd, unsigned long arg)
{
	if (arg == 0 || arg == own_number(bpf_get_current_task_btf()))
		return 0;
	return deny_number(s, CORDON_OP_SIGNAL, cmd, CORDON_REASON_BUILTIN, -EPERM);
}

/*
 * Which signal a file sends, and whether it does, is for the recipient to decide. A descriptor
 * inherited from outside may have another process as its recipient. With `nobodys`, a file without
 * a recipient is allowed. Callers pass false if another process may still become the recipient, and
 * for a terminal, which signals its group.
 */
static __always_inline int judge_signal(struct file *file, unsigned int cmd, bool nobodys)
{
	const struct task_struct *task = read_task(bpf_get_current_task_btf());
	__u64 owner = owner_of(file);

	if (owner ? owner == (__u64)task->signal->pids[PIDTYPE_TGID] : nobodys)
		return 0;
	return refuse_builtin(CORDON_OP_SIGNAL, cmd);
}

/*
 * Since Linux 6.16, inodes without a file, such as an epoll's or a pidfd's, have the type S_IFREG.
 */
static __always_inline bool is_on_disk(struct file *file)
{
	const struct inode *inode = read_file(file)->f_inode;
	__u32 type = inode->i_mode & S_IFMT, magic = inode->i_sb->s_magic;

	return (type == S_IFREG || type == S_IFDIR) && magic != ANON_INODE_FS_MAGIC &&
	       magic != PIDFS_MAGIC;
}

static __always_inline bool is_device(struct file *file)
{
	return (read_file(file)->f_inode->i_mode & S_IFMT) == S_IFCHR;
}

static __always_inline bool sets_owner(unsigned int cmd)
{
	return cmd == F_SETOWN || cmd == F_SETOWN_EX;
}

/*
 * F_SETDELEG passes a pointer, so the type of its lease is not known here: assume that it takes
 * one.
 */
static __always_inline bool takes_lease(unsigned int cmd, unsigned long arg)
{
	return (cmd == F_SETLEASE && arg != F_UNLCK) || cmd == F_SETDELEG;
}

enum rewriting {
	REWRITING_HELD,	    /* a descriptor without O_APPEND is held */
	REWRITING_NAMELESS, /* no such descriptor, and no name */
	REWRITING_ASK,	    /* may be granted by name */
};

/*
 * Clearing O_APPEND allows overwriting data that others have appended, which a descriptor for
 * appending must not allow. Returns how the task may get write access otherwise.
 */
static __always_inline enum rewriting rewriting_of(const struct file *file)
{
	struct file_object o;

	if (!inspect(&file->f_path, &o))
		return REWRITING_NAMELESS;
	if (is_held(&o, FMODE_WRITE, false))
		return REWRITING_HELD;
	return o.class == CLASS_NAMED ? REWRITING_ASK : REWRITING_NAMELESS;
}

SEC("lsm/file_fcntl")
int BPF_PROG(cordon_file_fcntl, struct file *file, unsigned int cmd, unsigned long arg, int ret)
{
	struct subject s;
	bool rewrites;

	if (ret)
		return ret;
	if (cmd == F_SETSIG)
		return judge_signal(file, cmd, is_on_disk(file));
	if (cmd == F_SETFL && (arg & O_ASYNC)) {
		int refused = judge_signal(file, cmd, !is_device(file));

		if (refused)
			return refused;
	}
	rewrites = cmd == F_SETFL && !(arg & O_APPEND) && appends_only((__u64)file);
	if (!(sets_owner(cmd) || takes_lease(cmd, arg) || rewrites))
		return 0;
	ENTER(&s, ret);
	if (rewrites) {
		enum rewriting rewriting = rewriting_of(file);

		if (rewriting == REWRITING_HELD)
			return LEAVE(&s, 0);
		if (rewriting == REWRITING_NAMELESS)
			return LEAVE(&s, deny_number(&s, CORDON_OP_OPEN, O_APPEND,
						     CORDON_REASON_BUILTIN, -EACCES));
	}
	/* A lease delays other programs that open the file, which is more than read access. */
	if (rewrites || takes_lease(cmd, arg))
		return LEAVE(&s, judge_handling(&s, &file->f_path, CORDON_OP_OPEN, CORDON_WRITE));
	/* F_SETOWN_EX passes a pointer. Its target can change after it is read: never accept it. */
	return LEAVE(&s, judge_owner(&s, cmd, cmd == F_SETOWN_EX ? ~0ul : arg));
}

/* Is the object below the work directory or the temporary directory? */
static __always_inline bool is_in_own_place(const struct walk *walk)
{
	bool own = false;

#pragma unroll
	for (__u32 n = 0; n < NAME_RUNS; n++)
		own = own || (n < walk->run_count &&
			      (walk->runs[n].number == RUN_ANCHOR + CORDON_ANCHOR_WORKDIR ||
			       walk->runs[n].number == RUN_ANCHOR + CORDON_ANCHOR_TMP));
	return own;
}

/*
 * Requires write access for a lock, because a lock excludes other programs. System calls require a
 * writable descriptor only for exclusive locks, and flock(2) never does. A shared lock excludes all
 * writers for as long as it is held, root's package manager included. In the execution's own
 * directories shared locks are allowed, because readers of databases use them.
 */
static __always_inline int judge_lock(struct subject *s, const struct path *path, bool shared)
{
	struct file_object o;

	if (!inspect(path, &o))
		return deny_unasked(s, CORDON_OP_OPEN);
	if (o.class != CLASS_NAMED)
		return o.class == CLASS_NAMESPACE ? deny_unasked(s, CORDON_OP_OPEN) : 0;
	if (!subject_need_walk(s))
		return deny_unasked(s, CORDON_OP_OPEN);
	/*
	 * NAME_SPELLED makes the walk start at the root, so that it passes all bound directories.
	 */
	ask_name(s, o.dentry, o.vfsmount,
		 NAME_QUESTION(CORDON_RIGHT(CORDON_WRITE), o.name_flags | NAME_SPELLED));
	if (shared && is_in_own_place(s->walk))
		return 0;
	return decide_path(s, CORDON_OP_OPEN, -EACCES);
}

SEC("lsm/file_lock")
int BPF_PROG(cordon_file_lock, struct file *file, unsigned int cmd, int ret)
{
	struct subject s;

	if (ret || cmd == F_UNLCK || (file->f_mode & FMODE_WRITE))
		return ret;
	ENTER(&s, ret);
	return LEAVE(&s, judge_lock(&s, &file->f_path, cmd != F_WRLCK));
}

enum ioctl_kind {
	IOCTL_HARMLESS,
	IOCTL_WRITES, /* changes the file, without a writable descriptor */
	IOCTL_OTHER,  /* affects the whole file system, or is not known */
};

/*
 * Kinds of ioctls on regular files and directories. Terminal ioctls have no effect on them, but
 * isatty(3) uses one.
 */
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
	/* These require a writable descriptor. */
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

/*
 * Does the ioctl make a directory case-insensitive? Its files would then have names that no deny
 * rule covers. The flags are in the caller's memory, where another thread may change them after
 * this check. Therefore, all changes of flags are denied on file systems that support
 * case-insensitive directories.
 */
static __always_inline bool folds_case(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct inode *inode = read_file(file)->f_inode;
	__u32 flags = 0;

	if ((cmd != FS_IOC_SETFLAGS && cmd != FS_IOC32_SETFLAGS) ||
	    (inode->i_mode & S_IFMT) != S_IFDIR)
		return false;
	if (may_fold_case((__u64)inode->i_sb))
		return true;
	bpf_probe_read_user(&flags, sizeof(flags), (const void *)arg);
	return flags & FS_CASEFOLD_FL;
}

static __always_inline int judge_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	enum ioctl_kind kind = kind_of_ioctl(cmd);
	struct subject s;

	if (kind == IOCTL_HARMLESS)
		return 0;
	if (kind == IOCTL_OTHER || folds_case(file, cmd, arg))
		return refuse_builtin(CORDON_OP_IOCTL, cmd);
	ENTER(&s, 0);
	return LEAVE(&s, judge_handling(&s, &file->f_path, CORDON_OP_IOCTL, CORDON_WRITE));
}

static __always_inline int judge_ioctl(struct file *file, unsigned int cmd, unsigned long arg,
				       int ret)
{
	if (ret)
		return ret;
	switch (cmd) {
	/*
	 * Input to a terminal, or a key with text, would run commands in the shell that reads it.
	 */
	case TIOCSTI:
	case TIOCLINUX:
	case TIOCCONS:
	case TIOCVHANGUP:
	case KDSKBENT:
	case KDSKBSENT:
	case KDSETKEYCODE:
	/*
	 * These outlast the execution, and leave a terminal or console that the next program cannot
	 * use. They set another line discipline (kernel code for drivers), or disable text, keys or
	 * console switches.
	 */
	case TIOCSETD:
	case TIOCSLCKTRMIOS:
	case KDSETMODE:
	case KDSKBMODE:
	case VT_SETMODE:
	case VT_LOCKSWITCH:
	case FIOSETOWN:
	case SIOCSPGRP:
		return refuse_builtin(CORDON_OP_IOCTL, cmd);
	case TIOCSCTTY:
	case TIOCEXCL:
		return judge_terminal(file, cmd);
	case TCXONC:
		return arg == TCOOFF ? judge_terminal(file, cmd) : 0;
	case TIOCSPGRP:
		return judge_foreground();
	case FIOASYNC:
		return judge_signal(file, cmd, !is_device(file));
	default:
		break;
	}
	if (!is_on_disk(file) || read_file(file)->f_inode->i_sb->s_magic == PROC_SUPER_MAGIC)
		return 0;
	return judge_file_ioctl(file, cmd, arg);
}

SEC("lsm/file_ioctl")
int BPF_PROG(cordon_file_ioctl, struct file *file, unsigned int cmd, unsigned long arg, int ret)
{
	return judge_ioctl(file, cmd, arg, ret);
}

SEC("?lsm/file_ioctl_compat")
int BPF_PROG(cordon_file_ioctl_compat, struct file *file, unsigned int cmd, unsigned long arg,
	     int ret)
{
	return judge_ioctl(file, cmd, arg, ret);
}

#endif
