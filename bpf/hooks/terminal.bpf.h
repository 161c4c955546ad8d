/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Checks on the controlling terminal and on job control.
 *
 * A session that the execution has started is its own, with its terminal and all its process
 * groups. In the session where it was started, which is the caller's, it may only pass on the
 * foreground that it has. Otherwise a background job could become the foreground group, or join it,
 * and read the next terminal input.
 */
#ifndef CORDON_BPF_HOOK_TERMINAL_BPF_H
#define CORDON_BPF_HOOK_TERMINAL_BPF_H

#include "bpf/core/decide.bpf.h"
#include "bpf/core/terminal.bpf.h"

/*
 * Most members examined of a process group or of the list of children. If none is found, the group
 * counts as foreign.
 */
#define RELATIVES_MAX 256u

struct member_search {
	const struct subject *s;
	__u64 at; /* struct hlist_node in struct task_struct */
	__u32 found;
};

/* Does the task belong to this execution, or is it `cordon run`, which started the execution? */
static __always_inline bool is_own_or_owner(const struct subject *s, __u64 task)
{
	const struct label *label = label_of_address(task);

	if (label)
		return same_label(label, &s->label);
	return !s->execution->executor &&
	       read_u32(FIELD(struct task_struct, task, tgid)) == s->execution->owner_pid;
}

static long look_at_member(__u32 index, void *context)
{
	struct member_search *search = context;
	__u64 task;

	if (!search->at)
		return 1;
	task = search->at - bpf_core_field_offset(struct task_struct, pid_links[PIDTYPE_PGID]);
	search->found = is_own_or_owner(search->s, task);
	search->at = read_u64(FIELD(struct hlist_node, search->at, next));
	return search->found;
}

/* Is the process group empty, or does it have a member in this execution? */
static __noinline bool is_own_group(const struct subject *s, __u64 group)
{
	struct member_search search = {.s = s};

	search.at = read_u64(FIELD(struct pid, group, tasks[PIDTYPE_PGID]));
	if (!search.at)
		return true;
	bpf_loop(RELATIVES_MAX, look_at_member, &search, 0);
	return search.found;
}

/*
 * Checks TIOCSPGRP, which sets the foreground group. The kernel itself requires that the terminal
 * is the task's own.
 */
static __always_inline int judge_foreground(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 terminal = controlling_terminal(task), group;
	struct subject s;

	if (!terminal)
		return 0;
	ENTER(&s, 0);
	group = read_u64(FIELD(struct tty_struct, terminal, ctrl.pgrp));
	if (!group || group == (__u64)read_task(task)->signal->pids[PIDTYPE_PGID] ||
	    is_own_session(&s.label, terminal) || is_own_group(&s, group))
		return LEAVE(&s, 0);
	return LEAVE(&s,
		     deny_number(&s, CORDON_OP_IOCTL, TIOCSPGRP, CORDON_REASON_FOREIGN, -EPERM));
}

/*
 * Only the session of a terminal may do the following, or any session if the terminal has none:
 *
 * - TIOCSCTTY takes the terminal away from its session. The kernel requires a capability, which a
 *  policy may grant for another purpose.
 * - TIOCEXCL and TCOOFF outlast the execution: no program could open the terminal, or write to it.
 */
static __always_inline int judge_terminal(const struct file *file, unsigned int cmd)
{
	__u64 terminal;
	struct subject s;

	if ((read_file(file)->f_inode->i_mode & S_IFMT) != S_IFCHR)
		return 0;
	terminal = read_u64(FIELD(struct tty_file_private, read_file(file)->private_data, tty));
	ENTER(&s, 0);
	if (!read_u64(FIELD(struct tty_struct, terminal, ctrl.session)) ||
	    is_own_session(&s.label, terminal))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_number(&s, CORDON_OP_IOCTL, cmd, CORDON_REASON_FOREIGN, -EPERM));
}

/* The number of a struct pid in the namespace of this level; 0: none. */
static __always_inline __u32 number_at(__u64 pid, __u32 level)
{
	if (!pid || read_u32(FIELD(struct pid, pid, level)) < level)
		return 0;
	return read_u32(FIELD(struct pid, pid, numbers) + FIELD(struct upid, 0, nr) +
			(__u64)level * bpf_core_type_size(struct upid));
}

static __always_inline __u64 pid_of(__u64 task, enum pid_type type)
{
	__u64 signal = read_u64(FIELD(struct task_struct, task, signal));

	return read_u64(FIELD(struct signal_struct, signal, pids) + 8ull * type);
}

struct child_search {
	struct label label;
	__u64 head, at; /* struct list_head */
	__u32 number, level;
	__u32 found;
};

static long look_at_child(__u32 index, void *context)
{
	struct child_search *search = context;
	const struct label *label;
	__u64 task;

	search->at = read_u64(FIELD(struct list_head, search->at, next));
	if (!search->at || search->at == search->head)
		return 1;
	task = search->at - bpf_core_field_offset(struct task_struct, sibling);
	if (number_at(pid_of(task, PIDTYPE_TGID), search->level) != search->number)
		return 0;
	label = label_of_address(task);
	search->found = label && same_label(label, &search->label);
	return 1;
}

/* Does the task have a child in the execution with that number? */
static __noinline bool has_child(const struct subject *s, __u64 parent, __u64 number_and_level)
{
	struct child_search search = {.label = s->label,
				      .number = (__u32)number_and_level,
				      .level = number_and_level >> 32};

	search.head = FIELD(struct task_struct, parent, children);
	search.at = search.head;
	bpf_loop(RELATIVES_MAX, look_at_child, &search, 0);
	return search.found;
}

/*
 * Process groups that may be joined in the caller's session: a new one, the task's own, and a
 * shell's group for a pipeline.
 */
static __always_inline bool may_join(const struct subject *s, struct task_struct *joining,
				     __u32 number)
{
	const struct task_struct *task = read_task(bpf_get_current_task_btf());
	__u32 level = read_u32(FIELD(struct pid, task->thread_pid, level));
	__u64 wanted = number | (__u64)level << 32;

	return number == number_at(pid_of((__u64)joining, PIDTYPE_TGID), level) ||
	       number == number_at(pid_of((__u64)joining, PIDTYPE_PGID), level) ||
	       number == number_at(pid_of((__u64)task, PIDTYPE_PGID), level) ||
	       has_child(s, (__u64)task, wanted) || has_child(s, (__u64)task->real_parent, wanted);
}

SEC("lsm/task_setpgid")
int BPF_PROG(cordon_task_setpgid, struct task_struct *joining, pid_t number, int ret)
{
	/*
	 * Use the terminal of the joining task, because the parent that makes the call may have
	 * left it. A group without a terminal has no effect on one.
	 */
	__u64 terminal = controlling_terminal(joining);
	struct subject s;

	if (ret || !terminal)
		return ret;
	ENTER(&s, ret);
	if (is_own_session(&s.label, terminal) || may_join(&s, joining, number))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_number(&s, CORDON_OP_SCHED, number, CORDON_REASON_FOREIGN, -EPERM));
}

#endif
