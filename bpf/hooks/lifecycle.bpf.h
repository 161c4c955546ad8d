/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Labels at creation and end of tasks; events for exec and exit. */
#ifndef CORDON_BPF_HOOK_LIFECYCLE_BPF_H
#define CORDON_BPF_HOOK_LIFECYCLE_BPF_H

#include "bpf/core/adopt.bpf.h"
#include "bpf/core/begin.bpf.h"
#include "bpf/core/label.bpf.h"
#include "bpf/core/object.bpf.h"

/*
 * Copies the cached directories to the child. They are valid for it because it has the same label,
 * and a new program finds the directories of its libraries cached.
 */
static __always_inline void inherit_directories(struct task_struct *child, const struct subject *s)
{
	struct labelled_task *labelled = bpf_task_storage_get(&labels, child, 0, 0);

	if (labelled && s->walk)
		labelled->walk.directories = s->walk->directories;
}

/* A thread has the forker of its process. */
static __always_inline void note_forker(struct task_struct *child, struct task_struct *task,
					unsigned long clone_flags)
{
	__u64 address = (__u64)child, own_address = (__u64)task;
	struct known_task *known = bpf_map_lookup_elem(&labels_by_address, &address);
	const struct known_task *own;

	if (!known)
		return;
	if (!(clone_flags & CLONE_THREAD)) {
		known->forker.tgid = task->tgid;
		known->forker.start = read_task(task)->group_leader->start_boottime;
		return;
	}
	own = bpf_map_lookup_elem(&labels_by_address, &own_address);
	if (own)
		known->forker = own->forker;
}

/*
 * Would the child remain as a zombie? With CLONE_PARENT and a parent outside of the execution, it
 * would keep its label until that parent waits. The parent does not know of the child. Threads
 * leave no zombies.
 */
static __always_inline bool is_left_to_others(const struct task_struct *parent,
					      const struct label *label, unsigned long clone_flags)
{
	return (clone_flags & (CLONE_PARENT | CLONE_THREAD)) == CLONE_PARENT &&
	       !is_labelled(parent->real_parent, label);
}

/* Labels the child before it can run. If that fails, the fork fails. */
SEC("lsm/task_alloc")
int BPF_PROG(cordon_task_alloc, struct task_struct *child, unsigned long clone_flags, int ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cordon_execution *execution;
	struct subject s;
	__u32 key;

	if (ret)
		return ret;
	if (!subject_label(task, &s))
		return inherit_role(child, clone_flags);
	/*
	 * An O_PATH descriptor of a cgroup is sufficient for CLONE_INTO_CGROUP. No check on opening
	 * it would keep the child from leaving the cgroup, and so its limits.
	 */
	if ((clone_flags & CLONE_INTO_CGROUP) || is_left_to_others(task, &s.label, clone_flags)) {
		ret = refuse_builtin(CORDON_OP_FORK, 0);
		if (ret)
			return ret;
	}
	/*
	 * During an upgrade, the other build's copy of this program may have labelled the child
	 * already.
	 */
	if (is_labelled(child, &s.label))
		return 0;
	key = s.label.slot;
	execution = bpf_map_lookup_elem(&executions, &key);
	if (!execution || execution->generation != s.label.generation ||
	    execution->state == CORDON_EXECUTION_ENDING) {
		count(CORDON_COUNTER_FORK_REFUSED);
		return -EPERM;
	}
	/* A fixed limit besides the policy's, so that other executions have tasks left. */
	if (execution->tasks >= CORDON_MAX_TASKS || label_task(child, &s.label)) {
		count(CORDON_COUNTER_FORK_REFUSED);
		return -EAGAIN;
	}
	inherit_directories(child, &s);
	note_forker(child, task, clone_flags);
	__sync_fetch_and_add(&execution->forks, 1);
	/* Applies to a confined executor. */
	return inherit_role(child, clone_flags);
}

/* Also runs in softirq, under an unrelated current. */
SEC("lsm/task_free")
int BPF_PROG(cordon_task_free, struct task_struct *task)
{
	unlabel_task((__u64)task);
	drop_role((__u64)task);
	return 0;
}

#define EXEC_PATH_MAX CORDON_EVENT_LARGE

/*
 * Copies the arguments from the new program's memory. This task has just written them there, so
 * that the read does not fault.
 *
 * *ret_total is the size of all arguments, also if they cannot be read. If their end is not found,
 * it includes the environment, so that the record is marked as truncated.
 */
static __always_inline __u32 fill_arguments(const struct linux_binprm *bprm, __u8 *data,
					    __u32 *ret_total)
{
	unsigned long start = bprm->p;
	bool whole = false;
	__u64 length = arguments_end(bprm, &whole) - start;

	*ret_total = whole ? length : bprm->exec - start;
	/*
	 * Compare the whole 64-bit value: from a comparison of one half, the verifier learns
	 * nothing about the other half.
	 */
	barrier_var(length);
	if (length > CORDON_EXEC_ARGS)
		length = CORDON_EXEC_ARGS;
	if (bpf_probe_read_user(data, length, (const void *)start))
		return 0;
	return length;
}

static __always_inline void report_exec(const struct subject *s, const struct linux_binprm *bprm)
{
	struct cordon_exec_event *event;
	struct shared_scratch *shared;
	struct event_scratch *scratch;
	struct file_object o;
	__u64 now = bpf_ktime_get_boot_ns();
	__u32 path = 0, arguments, total = 0, size;

	__sync_fetch_and_add(&s->execution->execs, 1);
	if (!within_budget(s, now, CORDON_BUDGET_LIFE))
		return;
	scratch = take_scratch(&shared);
	if (!scratch) {
		__sync_fetch_and_add(&s->execution->dropped, 1);
		count(CORDON_COUNTER_CRITICAL_DROPPED);
		return;
	}
	inspect_file((__u64)bprm->file, &o);
	if (s->walk) {
		ask_name(s, o.dentry, o.vfsmount, NAME_QUESTION(0, o.name_flags | NAME_SPELLED));
		path = spell_path(s->walk, scratch->data, &total);
	}
	/* Path and arguments share one buffer. */
	path &= 2 * EXEC_PATH_MAX - 1;
	if (path > EXEC_PATH_MAX - CORDON_EXEC_ARGS)
		path = EXEC_PATH_MAX - CORDON_EXEC_ARGS;
	arguments = fill_arguments(bprm, scratch->data + path, &total);
	event = (struct cordon_exec_event *)(scratch->header + sizeof(scratch->header) -
					     sizeof(*event));
	size = sizeof(*event) + path + arguments;
	fill_process(&event->event);
	fill_event(&event->event, &s->label, s->execution, CORDON_EVENT_EXEC, size, now);
	event->path_length = path;
	event->args_length = arguments;
	event->args_total = total;
	event->reserved = 0;
	if (size > sizeof(*event) + EXEC_PATH_MAX)
		size = sizeof(*event) + EXEC_PATH_MAX;
	charge_bytes(s->execution, CORDON_BUDGET_LIFE, size);
	note_sent(s->execution, bpf_ringbuf_output(&critical, event, size, 0),
		  CORDON_COUNTER_CRITICAL_DROPPED);
	put_scratch(shared);
}

/* Runs after the point of no return, and before the program is mapped. */
SEC("lsm/bprm_committed_creds")
int BPF_PROG(cordon_bprm_committed, const struct linux_binprm *bprm)
{
	struct subject s;

	if (subject_get(&s) != SUBJECT_EXECUTION)
		return 0;
	report_exec(&s, bprm);
	begin_if_adopted(&s, bpf_get_current_task_btf(), bprm);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(cordon_process_exec, struct task_struct *task)
{
	struct subject s;

	if (subject_label(task, &s) && subject_resolve_held(&s, true) == SUBJECT_EXECUTION)
		tell_begin(&s, task);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(cordon_process_exit, struct task_struct *task)
{
	const struct signal_struct *signal = read_task(task)->signal;
	struct cordon_exit_event event = {};
	struct subject s;
	__u64 now;

	end_lease_of(task);
	/* The last thread of the process: do_exit() has already decremented the count. */
	if (!read_task(task)->bpf_storage || signal->live.counter != 0)
		return 0;
	if (subject_get(&s) != SUBJECT_EXECUTION)
		return 0;
	now = bpf_ktime_get_boot_ns();
	if (!within_budget(&s, now, CORDON_BUDGET_LIFE))
		return 0;
	fill_process(&event.event);
	fill_event(&event.event, &s.label, s.execution, CORDON_EVENT_EXIT, sizeof(event), now);
	event.exit_code = signal->flags & 0x4 /* SIGNAL_GROUP_EXIT */ ? signal->group_exit_code
								      : task->exit_code;
	event.user_ns = task->utime + signal->utime;
	event.system_ns = task->stime + signal->stime;
	note_sent(s.execution, bpf_ringbuf_output(&critical, &event, sizeof(event), 0),
		  CORDON_COUNTER_CRITICAL_DROPPED);
	return 0;
}

#endif
