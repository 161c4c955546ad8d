/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Descriptors that the task holds, as a reason to allow opening the same object again.
 *
 * /proc/self/fd/N, and /dev/stdin and its like through it, lead to the object of a descriptor. The
 * kernel opens that object with any access that its permission bits allow. For example, a pipe
 * inherited for reading can be opened for writing, and its next reader outside then reads data that
 * the code wrote.
 *
 * An object without a name is therefore opened again only with the access that the task's
 * descriptors for it have. A pipe that the execution has made is exempt (own_pipes.bpf.h). An
 * object with a name may be opened with that access even if the policy does not grant it: the held
 * descriptors already give this access.
 *
 * This grants nothing new, because:
 * - Each descriptor was checked when it was opened or received, or was inherited on purpose
 *  from the program that started the execution.
 * - Read access reaches the whole file, by pread(2) or mmap(2), and so does write access.
 *  A task that can overwrite every byte gains nothing by truncating the file.
 * - Append access is less than write access: it only allows an open that appends again. It
 *  cannot be raised (cordon_file_fcntl(), cordon_mmap_file()).
 * - A descriptor opened with O_PATH has neither mode, and does not count.
 * - Opening most devices and files of procfs creates a new object instead of reopening the
 *  held one: they are checked by name.
 * - The path must be the same: the inode under another name or mount is checked by that name.
 *
 * Descriptors of other tasks of the execution do not count, although /proc/PID/fd reaches them: no
 * hook can see which descriptor an open came through.
 */
#ifndef CORDON_BPF_HELD_BPF_H
#define CORDON_BPF_HELD_BPF_H

#include "bpf/core/object.bpf.h"

/* Descriptors examined, from 0 on. Higher ones do not count. */
#define HELD_MAX 4096u

struct held_search {
	__u64 slots; /* struct file *[] */
	__u64 inode;
	__u64 dentry, vfsmount; /* 0: any name */
	__u32 wanted;		/* FMODE_READ, FMODE_WRITE; cleared when found */
	__u32 appending;	/* append access is sufficient */
};

static __always_inline bool is_at(__u64 file, const struct held_search *search)
{
	if (read_u64(FIELD(struct file, file, f_inode)) != search->inode)
		return false;
	return !search->dentry ||
	       (read_u64(FIELD(struct file, file, f_path.dentry)) == search->dentry &&
		read_u64(FIELD(struct file, file, f_path.mnt)) == search->vfsmount);
}

static long look_at_held(__u32 index, void *context)
{
	struct held_search *search = context;
	__u64 slot = search->slots + 8ull * index, file = read_u64(slot);
	__u32 modes;

	if (!file || !is_at(file, search))
		return 0;
	modes = read_u32(FIELD(struct file, file, f_mode)) & (FMODE_READ | FMODE_WRITE);
	if (!search->appending && (read_u32(FIELD(struct file, file, f_flags)) & O_APPEND))
		modes &= ~FMODE_WRITE;
	/*
	 * Another thread may have closed it meanwhile, and the memory may be another file's by now.
	 */
	if (read_u64(slot) != file)
		return 0;
	search->wanted &= ~modes;
	return !search->wanted;
}

/* Do the task's descriptors for this object together have the access in `wanted`? */
STUB int holds(const struct file_object *o, __u32 wanted, __u32 appending)
{
	return 0;
}

__noinline int holds_body(const struct file_object *o, __u32 wanted, __u32 appending)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct held_search search = {.wanted = wanted, .appending = appending};
	__u64 table;
	__u32 count;

	if (!o || !wanted)
		return 0;
	search.inode = o->inode;
	if (o->class == CLASS_NAMED) {
		search.dentry = o->dentry;
		search.vfsmount = o->vfsmount;
	}
	table = read_u64(FIELD(struct files_struct, read_task(task)->files, fdt));
	count = read_u32(FIELD(struct fdtable, table, max_fds));
	search.slots = read_u64(FIELD(struct fdtable, table, fd));
	bpf_loop(count < HELD_MAX ? count : HELD_MAX, look_at_held, &search, 0);
	return !search.wanted;
}

static __always_inline bool is_held(const struct file_object *o, __u32 wanted, bool appending)
{
	return holds(o, wanted, appending);
}

/* Is the file open for appending only, as long as it has that flag? Returns false for address 0. */
static __always_inline bool appends_only(__u64 file)
{
	__u64 inode;

	if (!(read_u32(FIELD(struct file, file, f_flags)) & O_APPEND) ||
	    !(read_u32(FIELD(struct file, file, f_mode)) & FMODE_WRITE))
		return false;
	inode = read_u64(FIELD(struct file, file, f_inode));
	return (read_u32(FIELD(struct inode, inode, i_mode)) & S_IFMT) == S_IFREG;
}

/* include/uapi/linux/major.h; Documentation/admin-guide/devices.txt */
#define TTY_MAJOR	       4u
#define UNIX98_PTY_SLAVE_MAJOR 136u
#define UNIX98_PTY_MAJOR_COUNT 8u
#define DEVICE_TTY	       (5u << 20)
#define DEVICE_PTMX	       (5u << 20 | 2u)
#define DEVICE_MAJOR(device)   ((device) >> 20)

static __always_inline bool is_terminal(__u32 device)
{
	return DEVICE_MAJOR(device) == TTY_MAJOR ||
	       DEVICE_MAJOR(device) - UNIX98_PTY_SLAVE_MAJOR < UNIX98_PTY_MAJOR_COUNT;
}

/* Does opening it again lead to the same object? */
static __always_inline bool opens_the_same(const struct file_object *o)
{
	__u32 type = o->mode & S_IFMT;

	if (o->name_flags & NAME_PROC)
		return false;
	if (type == S_IFCHR)
		return is_terminal(read_u32(FIELD(struct inode, o->inode, i_rdev)));
	return type == S_IFREG || type == S_IFIFO || type == S_IFDIR;
}

#endif
