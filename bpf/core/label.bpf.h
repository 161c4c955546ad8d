/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Sets labels on tasks and removes them, and counts the live tasks of an execution. */
#ifndef CORDON_BPF_LABEL_BPF_H
#define CORDON_BPF_LABEL_BPF_H

#include "bpf/core/event.bpf.h"

/*
 * Writes both numbers at once, because subject_label() reads them at once: a reader never sees a
 * mix of two labels. The slot's content is written before. A reader of the label sees it, because
 * the slot's address depends on the label.
 */
static __always_inline void publish_label(struct labelled_task *labelled, const struct label *label)
{
	order();
	*(volatile __u64 *)&labelled->label = (__u64)label->generation << 32 | label->slot;
}

/*
 * Updates both maps or none. The map by address is first, because it decides if the other one is
 * not readable for a moment. Returns 0, or -ENOMEM if there is no room.
 */
static __always_inline int label_task(struct task_struct *task, const struct label *label)
{
	struct known_task known = {.label = *label};
	__u64 address = (__u64)task;
	struct labelled_task *labelled;
	struct cordon_execution *execution;
	__u32 key = label->slot;

	execution = bpf_map_lookup_elem(&executions, &key);
	if (!execution)
		return -ENOMEM;
	known.user = execution->user;
	if (!share_take(known.user, CORDON_SHARE_LABELS, LABELS_ALL, execution->tasks)) {
		count(CORDON_COUNTER_LABEL_EXHAUSTED);
		return -ENOMEM;
	}
	if (bpf_map_update_elem(&labels_by_address, &address, &known, BPF_ANY)) {
		share_give_back(known.user, CORDON_SHARE_LABELS);
		count(CORDON_COUNTER_LABEL_EXHAUSTED);
		return -ENOMEM;
	}
	labelled = bpf_task_storage_get(&labels, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!labelled) {
		count(CORDON_COUNTER_LABEL_BUSY);
		bpf_map_delete_elem(&labels_by_address, &address);
		share_give_back(known.user, CORDON_SHARE_LABELS);
		return -ENOMEM;
	}
	publish_label(labelled, label);
	/* Cached directories of another label do not apply to the new label's bound directories. */
	labelled->walk.directories.policy = 0;
	__sync_fetch_and_add(&execution->tasks, 1);
	return 0;
}

static __always_inline bool is_labelled(const struct task_struct *task, const struct label *label)
{
	const struct label *found = label_of_address((__u64)task);

	return found && found->slot == label->slot && found->generation == label->generation;
}

/* Reports the exit of the last task, so that the daemon need not poll for the execution's end. */
static __always_inline void report_empty(const struct label *label,
					 struct cordon_execution *execution)
{
	struct cordon_event event = {};

	fill_event(&event, label, execution, CORDON_EVENT_EMPTY, sizeof(event),
		   bpf_ktime_get_boot_ns());
	note_sent(execution, bpf_ringbuf_output(&critical, &event, sizeof(event), 0),
		  CORDON_COUNTER_CRITICAL_DROPPED);
}

static __always_inline void leave_execution(const struct label *label)
{
	struct cordon_execution *execution;
	__u32 key = label->slot;

	execution = bpf_map_lookup_elem(&executions, &key);
	if (!execution || execution->generation != label->generation)
		return;
	if (__sync_fetch_and_add(&execution->tasks, -1) == 1)
		report_empty(label, execution);
}

static __always_inline void unlabel_task(__u64 address)
{
	const struct known_task *found = bpf_map_lookup_elem(&labels_by_address, &address);
	struct label label;
	__u32 user;

	if (!found)
		return;
	label = found->label;
	user = found->user;
	if (bpf_map_delete_elem(&labels_by_address, &address))
		return;
	share_give_back(user, CORDON_SHARE_LABELS);
	leave_execution(&label);
}

/*
 * Moves the running task from its execution to another one. Returns 0, or -ENOMEM with the old
 * label kept.
 */
static __always_inline int relabel_task(struct task_struct *task, const struct label *label)
{
	__u64 address = (__u64)task;
	const struct known_task *found = bpf_map_lookup_elem(&labels_by_address, &address);
	struct labelled_task *labelled;
	struct cordon_execution *execution;
	struct known_task known;
	struct label old;
	__u32 key = label->slot;

	if (!found)
		return label_task(task, label);
	known = *found;
	old = known.label;
	known.label = *label;
	execution = bpf_map_lookup_elem(&executions, &key);
	labelled = bpf_task_storage_get(&labels, task, 0, 0);
	if (!execution || !labelled) {
		count(CORDON_COUNTER_LABEL_BUSY);
		return -ENOMEM;
	}
	if (bpf_map_update_elem(&labels_by_address, &address, &known, BPF_ANY)) {
		count(CORDON_COUNTER_LABEL_EXHAUSTED);
		return -ENOMEM;
	}
	publish_label(labelled, label);
	labelled->walk.directories.policy = 0;
	__sync_fetch_and_add(&execution->tasks, 1);
	leave_execution(&old);
	return 0;
}

#endif
