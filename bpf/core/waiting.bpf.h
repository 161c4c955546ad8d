/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Calls that wait for a person's answer, where the policy says so.
 *
 * No hook can wait. What no rule allows is answered by a stop of the process, from inside the call
 * and before it returns: the call is as if it had never been made (ERESTARTNOINTR), and is made
 * again when the daemon has the process go on (arch/<arch>/kernel/signal.c). By then a rule allows
 * it, or the question has its answer here, and the call is refused like any other.
 *
 * Fail closed: what cannot be asked is refused at once, and a process that others have go on asks
 * again.
 */
#ifndef CORDON_BPF_WAITING_BPF_H
#define CORDON_BPF_WAITING_BPF_H

#include "bpf/core/decide.bpf.h"

#define ERESTARTNOINTR 513

/*
 * io_uring makes accesses of its own later, and other calls may have done half of their work: these
 * are the ones that begin anew with nothing lost.
 */
static __always_inline bool can_begin_anew(__u32 operation)
{
	const struct pt_regs *regs = entry_registers();
	__u32 number = call_number(regs);

	if (is_32bit_call(regs))
		return false;
	if (operation == CORDON_OP_CONNECT)
		return number == NR_CONNECT;
	return operation == CORDON_OP_EXEC && (number == NR_EXECVE || number == NR_EXECVEAT);
}

/* Only what a rule could allow is asked about, and not while nothing is refused anyway. */
static __always_inline bool may_wait(const struct subject *s, __u32 operation, __u8 reason)
{
	return s->policy->ask_msec && reason == CORDON_REASON_DEFAULT && !observes(s) &&
	       s->execution->state == CORDON_EXECUTION_LIVE && can_begin_anew(operation);
}

static __always_inline bool may_ask_to_run(const struct subject *s, const struct answer *answer)
{
	return may_wait(s, CORDON_OP_EXEC, answer->reason);
}

/* One question less for the execution. */
static __always_inline bool take_question(struct cordon_execution *execution)
{
	if ((__s32)__sync_fetch_and_add(&execution->asks_left, -1) > 0)
		return true;
	__sync_fetch_and_add(&execution->asks_left, 1);
	return false;
}

static __always_inline bool is_open_question(struct cordon_execution *execution, __u64 key)
{
	const __u32 *known = bpf_map_lookup_elem(&asked_questions, &key);
	__u32 open = CORDON_QUESTION_OPEN;

	if (known)
		return *known == CORDON_QUESTION_OPEN;
	if (!take_question(execution))
		return false;
	/* Another task may have asked the same meanwhile. */
	bpf_map_update_elem(&asked_questions, &key, &open, BPF_NOEXIST);
	return true;
}

/* Stopped first: the answer must not come before the stop. */
static __always_inline bool stop_and_tell(struct walk *walk, const struct report *r, __u64 key,
					  struct event_scratch *scratch, __u64 now)
{
	struct cordon_event *event = (struct cordon_event *)scratch->header;
	__u32 size = fill_refusal(walk, scratch, r);

	fill_unnumbered(event, &r->label, r->policy, CORDON_EVENT_WAITS, size, now);
	event->sequence = key;
	/* Of this thread: its call has to find a signal that waits. */
	if (bpf_send_signal_thread(SIGSTOP))
		return false;
	if (bpf_ringbuf_output(&critical, scratch, size, 0) == 0)
		return true;
	/* Takes back a stop that has not been come to. */
	bpf_send_signal_thread(SIGCONT);
	count(CORDON_COUNTER_CRITICAL_DROPPED);
	return false;
}

/* 1: the process is stopped, and the call is to begin anew; 0: it is refused. */
STUB int wait_for_answer(struct walk *walk, struct cordon_execution *execution,
			 const struct report *r)
{
	return 0;
}

__noinline int wait_for_answer_body(struct walk *walk, struct cordon_execution *execution,
				    const struct report *r)
{
	__u64 now = bpf_ktime_get_boot_ns(), key;
	struct shared_scratch *shared;
	struct event_scratch *scratch;
	bool waits;

	if (!execution || !r)
		return 0;
	key = refusal_hash(walk, r);
	if (!is_open_question(execution, key) ||
	    !has_budget(execution, false, now, CORDON_BUDGET_ACCESS))
		return 0;
	scratch = take_scratch(&shared);
	if (!scratch)
		return 0;
	waits = stop_and_tell(walk, r, key, scratch, now);
	put_scratch(shared);
	return waits;
}

/* By itself, so that its report is not on the stack while deny() has one there. */
static __noinline bool waits(const struct subject *s, __u64 refusal, __u64 identity,
			     const struct object *object)
{
	struct report report;

	fill_report(&report, s, refusal >> 32, object, &s->walk->answer);
	report.identity = identity;
	report.error = (__s32)refusal;
	return wait_for_answer(s->walk, s->execution, &report);
}

/* decide_answered() for what may wait. */
static __always_inline int decide_or_wait(const struct subject *s, __u32 operation,
					  const struct object *object, __u64 identity, __s32 error)
{
	const struct answer *answer = &s->walk->answer;

	if (answer->missing && may_wait(s, operation, answer->reason) &&
	    waits(s, REFUSAL(operation, error), identity, object))
		return -ERESTARTNOINTR;
	return decide_answered(s, operation, object, identity, error);
}

#endif
