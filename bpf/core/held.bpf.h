/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What the task holds open, as the ground of opening it anew.
 *
 * /proc/self/fd/N, and /dev/stdin and its like through it, lead to the object that a descriptor is
 * about, and the kernel opens it with whatever access its permission bits allow: a pipe that came
 * along to be read from is opened to be written to, and whoever reads it next outside reads what
 * the code wrote. So what has no name is opened anew with the access only that descriptors of the
 * task have to it, unless it is a pipe of the execution (own_pipes.bpf.h). What has a name is
 * opened with that access even where the policy grants it nothing: the held descriptors reach all
 * that a new one would.
 *
 * Why that grants nothing new:
 * - Each descriptor was judged when it was opened or arrived, or came along by the will of whoever
 *   started the execution.
 * - Read access reaches all of the file, by pread(2) or mmap(2), and so does write access: whoever
 *   can overwrite every byte gains nothing by cutting them off.
 * - Appending is less than writing: it counts only for what appends again. It stays so
 *   (cordon_file_fcntl(), cordon_mmap_file()).
 * - A descriptor opened by O_PATH has neither mode, and counts for nothing.
 * - A new open of most devices, and of files of procfs, is a new object and not the held one again:
 *   they are asked about by name.
 * - The same inode by another name or another mount is asked about by that name: the path must be
 *   the same.
 *
 * Those of other tasks of the execution do not count, though it reaches them through /proc/PID/fd:
 * which descriptor an open came through, no hook is told.
 */
#ifndef CORDON_BPF_HELD_BPF_H
#define CORDON_BPF_HELD_BPF_H

#include "bpf/core/object.bpf.h"

/* As far as one looks, from descriptor 0 on. What stands behind does not count. */
#define HELD_MAX 4096u

struct held_search {
	__u64 slots; /* struct file *[] */
	__u64 inode;
	__u64 dentry, vfsmount; /* 0: of any name */
	__u32 wanted;		/* FMODE_READ, FMODE_WRITE; taken out where found */
	__u32 appending;	/* to append is enough */
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
	 * Another thread may have closed it meanwhile, and the memory be somebody else's file by
	 * now.
	 */
	if (read_u64(slot) != file)
		return 0;
	search->wanted &= ~modes;
	return !search->wanted;
}

/* Do the task's descriptors of this object have the access that is wanted, together? */
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

/*
 * A file that can be appended to only, as long as it has that flag. Of no file, address 0, there is
 * none.
 */
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
#define DEVICE_MAJOR(device)   ((device) >> 20)

static __always_inline bool is_terminal(__u32 device)
{
	return DEVICE_MAJOR(device) == TTY_MAJOR ||
	       DEVICE_MAJOR(device) - UNIX98_PTY_SLAVE_MAJOR < UNIX98_PTY_MAJOR_COUNT;
}

/* Is it the same object again that an open of it leads to? */
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
