/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Signals with which an executor requests the end of an execution that it has started. The first
 * one starts the grace period of the executor's entry. Without this limit, code that ignores the
 * signal would keep its executor waiting until the wall time limit.
 */
#ifndef CORDON_BPF_ASKED_BPF_H
#define CORDON_BPF_ASKED_BPF_H

#include "bpf/core/adopt.bpf.h"

#define NSEC_PER_MSEC 1000000ull

static __always_inline bool may_ask(int sig)
{
	return sig == SIGTERM || sig == SIGINT || sig == SIGQUIT;
}

/*
 * Is the current task in the process that started the adopted execution? The execution ends with
 * it.
 */
static __always_inline bool is_owner(const struct cordon_execution *execution)
{
	const struct task_struct *task = read_task(bpf_get_current_task_btf());

	return execution->adopted && execution->owner_pid == (__u32)task->tgid &&
	       execution->owner_start == task->group_leader->start_boottime;
}

/* Only the first request counts: a repeated one does not extend the grace period. */
static __always_inline void note_request(const struct label *label,
					 struct cordon_execution *execution, int sig)
{
	__u32 index = execution->executor - 1;
	const struct cordon_executor *executor = bpf_map_lookup_elem(&executors, &index);
	__u64 now = bpf_ktime_get_boot_ns();
	struct cordon_event event = {};

	if (!executor || !executor->grace_msec ||
	    (sig == SIGINT && (executor->flags & CORDON_EXECUTOR_SESSION)))
		return;
	if (__sync_val_compare_and_swap(&execution->end_by, 0,
					now + executor->grace_msec * NSEC_PER_MSEC))
		return;
	fill_event(&event, label, execution, CORDON_EVENT_ASKED, sizeof(event), now);
	note_sent(execution, bpf_ringbuf_output(&critical, &event, sizeof(event), 0),
		  CORDON_COUNTER_CRITICAL_DROPPED);
}

/*
 * A signal from the current task to `target`. It counts as a request if the sender is outside of
 * all executions, or is the owner. A signal from the execution's own code is no request.
 */
static __always_inline void note_signal(struct task_struct *target, int sig)
{
	const struct label *label;
	struct cordon_execution *execution;

	if (!may_ask(sig))
		return;
	label = label_of_address((__u64)target);
	execution = label ? execution_of(label) : 0;
	if (!execution || !execution->adopted || execution->leader != (__u32)target->tgid)
		return;
	if (is_owner(execution) || !label_of_address((__u64)bpf_get_current_task_btf()))
		note_request(label, execution, sig);
}

#endif
