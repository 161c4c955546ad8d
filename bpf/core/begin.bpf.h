/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The beginning of an execution that was adopted, once its program is in place and before its first instruction: its
 * environment is cleaned, and it is held for the daemon.
 */
#ifndef CORDON_BPF_HOOK_BEGIN_BPF_H
#define CORDON_BPF_HOOK_BEGIN_BPF_H

#include "bpf/core/adopt.bpf.h"

/* Set by the loader. Under lockdown the kernel takes no program that writes to user memory. */
const volatile bool may_write_user = true;

struct environment_scan {
	struct cordon_adopt_key key;
	__u32 inside; /* a variable that did not fit: go on with it */
	__u64 at, end;
	__u32 dropping;
	__u32 dropped;
	__u32 broken;
	__u32 executor;
	char zeros[256];
};

/* A piece of the environment: a variable, or what of it fits into the key. */
static long clean_piece(__u32 index, void *context)
{
	struct environment_scan *scan = *(struct environment_scan **)context;
	__u64 at = scan->at;
	__u32 size;
	long n;

	if (at >= scan->end)
		return 1;
	n = bpf_probe_read_user_str(scan->key.text, CORDON_ADOPT_TEXT, (void *)at);
	if (n <= 0 || n > CORDON_ADOPT_TEXT)
		goto broken;
	if (!scan->inside) {
		const __u64 *kept;

		scan->key.prefix = ADOPT_KEY_BITS;
		scan->key.question = CORDON_ADOPT_KEEP;
		scan->key.executor = scan->executor;
		kept = bpf_map_lookup_elem(&adopt_names, &scan->key);
		scan->dropping = !kept || !*kept;
		scan->dropped += scan->dropping && n > 1;
	}
	/* With its NUL, so that there is no empty range, which the helper does not take. */
	size = n < CORDON_ADOPT_TEXT ? n : CORDON_ADOPT_TEXT - 1;
	if (scan->dropping && may_write_user && bpf_probe_write_user((void *)at, scan->zeros, size))
		goto broken;
	/* Truncated, it ends with a NUL that is not the string's. */
	scan->inside = n == CORDON_ADOPT_TEXT;
	scan->at = at + (scan->inside ? n - 1 : n);
	return 0;
broken:
	scan->broken = 1;
	return 1;
}

#define ENVIRONMENT_PIECES (1u << 17)

/* True: nothing but what the entry keeps is left. */
static __noinline bool clean_environment(struct event_scratch *scratch, __u32 executor)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct environment_scan *scan;

	if (!scratch || !may_write_user)
		return false;
	scan = (struct environment_scan *)scratch->data;
	scan->at = task->mm->env_start;
	scan->end = task->mm->env_end;
	scan->inside = 0;
	scan->dropping = 0;
	scan->dropped = 0;
	scan->broken = 0;
	scan->executor = executor;
	__builtin_memset(scan->zeros, 0, sizeof(scan->zeros));
	bpf_loop(ENVIRONMENT_PIECES, clean_piece, &scan, 0);
	return !scan->broken && scan->at >= scan->end;
}

/*
 * A process that leads a group in its parent's session is a shell's job, and the shell would hear of the stop
 * (do_notify_parent_cldstop()). Nobody else asks to.
 */
static __always_inline bool is_job(struct task_struct *task)
{
	struct signal_struct *signal = task->signal;

	return signal->pids[PIDTYPE_PGID] == task->thread_pid &&
	       signal->pids[PIDTYPE_SID] != task->thread_pid;
}

static __always_inline void send_begin_event(struct event_scratch *scratch,
					     const struct label *label,
					     struct cordon_execution *execution, __u32 variables)
{
	struct cordon_adopt_event *event = adopt_event(scratch);

	fill_process(&event->event);
	fill_event(&event->event, label, execution, CORDON_EVENT_BEGIN, sizeof(*event),
		   bpf_ktime_get_boot_ns());
	event->executor = execution->executor - 1;
	event->reason = CORDON_ADOPTED;
	event->workdir_length = 0;
	event->program_length = 0;
	event->variables = variables;
	event->begun = execution->begun;
	note_sent(execution, bpf_ringbuf_output(&critical, event, sizeof(*event), 0),
		  CORDON_COUNTER_CRITICAL_DROPPED);
}

static __always_inline void begin(struct subject *s, struct cordon_adoption *a,
				  struct task_struct *task)
{
	struct cordon_execution *execution = s->execution;
	struct event_scratch *scratch = event_scratch();
	__u32 index = execution->executor - 1, begun = CORDON_BEGUN, variables = 0;
	struct cordon_executor *executor = bpf_map_lookup_elem(&executors, &index);
	bool there = bpf_ktime_get_boot_ns() <= a->lease, clean;

	if (!executor || !scratch) {
		bpf_send_signal(SIGKILL);
		return;
	}
	clean = (executor->flags & CORDON_EXECUTOR_KEEP_ALL) != 0;
	if (!clean) {
		clean = clean_environment(scratch, index);
		if (clean)
			variables = ((struct environment_scan *)scratch->data)->dropped;
	}
	if (clean)
		begun |= CORDON_BEGUN_CLEAN;
	else
		__sync_fetch_and_add(&a->unclean, 1);
	if (there && (executor->flags & CORDON_EXECUTOR_HOLD) &&
	    (!is_job(task) || !clean || (executor->flags & CORDON_EXECUTOR_GATE)) &&
	    __sync_val_compare_and_swap(&execution->state, CORDON_EXECUTION_LIVE,
					CORDON_EXECUTION_HELD) == CORDON_EXECUTION_LIVE)
		begun |= CORDON_BEGUN_HELD;
	execution->begun = begun;
	if (begun & CORDON_BEGUN_HELD)
		bpf_send_signal(SIGSTOP);
	else if (!clean || (executor->flags & CORDON_EXECUTOR_GATE))
		bpf_send_signal(SIGKILL);
	send_begin_event(scratch, &s->label, execution, variables);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(cordon_adopt_begin, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct cordon_adoption *a = adoption_state();
	struct subject s;

	if (!a || subject_get(&s) != SUBJECT_EXECUTION)
		return 0;
	if (s.execution->executor && s.execution->leader == (__u32)task->tgid &&
	    !s.execution->begun)
		begin(&s, a, task);
	return 0;
}

/* The daemon is gone: known at once, not when its lease runs out. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(cordon_adopt_exit, struct task_struct *task)
{
	struct cordon_adoption *a = adoption_state();

	if (a && a->daemon == (__u32)task->tgid && task->signal->live.counter == 0)
		a->lease = 0;
	return 0;
}

#endif
