/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The terminal of a task, and the session that it belongs to. */
#ifndef CORDON_BPF_TERMINAL_BPF_H
#define CORDON_BPF_TERMINAL_BPF_H

#include "bpf/core/read.bpf.h"
#include "bpf/core/subject.bpf.h"

/* Returns a struct tty_struct, or 0 for none. */
static __always_inline __u64 controlling_terminal(struct task_struct *task)
{
	return read_u64(FIELD(struct signal_struct, read_task(task)->signal, tty));
}

/* Does the terminal belong to a session with a leader in this execution? */
static __always_inline bool is_own_session(const struct label *own, __u64 terminal)
{
	__u64 session = read_u64(FIELD(struct tty_struct, terminal, ctrl.session)), leader;
	const struct label *label;

	leader = session ? read_u64(FIELD(struct pid, session, tasks[PIDTYPE_TGID])) : 0;
	if (!leader)
		return false;
	leader -= bpf_core_field_offset(struct task_struct, pid_links[PIDTYPE_TGID]);
	label = label_of_address(leader);
	return label && same_label(label, own);
}

/* Does this descriptor refer to the terminal? */
static __always_inline bool leads_to(__u64 slots, __u32 fd, __u64 terminal)
{
	__u64 file = read_u64(slots + 8ull * fd), inode, private;

	if (!file)
		return false;
	inode = read_u64(FIELD(struct file, file, f_inode));
	if ((read_u32(FIELD(struct inode, inode, i_mode)) & S_IFMT) != S_IFCHR)
		return false;
	/*
	 * For a terminal this is a struct tty_file_private. The private data of other files does
	 * not contain the terminal's address there.
	 */
	private = read_u64(FIELD(struct file, file, private_data));
	return read_u64(FIELD(struct tty_file_private, private, tty)) == terminal;
}

/* Does the task have a controlling terminal that is none of its standard streams? */
static __always_inline bool is_off_terminal(struct task_struct *task)
{
	__u64 terminal = controlling_terminal(task), table, slots;

	if (!terminal)
		return false;
	table = read_u64(FIELD(struct files_struct, read_task(task)->files, fdt));
	slots = read_u64(FIELD(struct fdtable, table, fd));
	return !leads_to(slots, 0, terminal) && !leads_to(slots, 1, terminal) &&
	       !leads_to(slots, 2, terminal);
}

#endif
