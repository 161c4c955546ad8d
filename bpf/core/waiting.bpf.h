/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Calls that wait for a person's approval, if the policy requires it.
 *
 * An LSM hook cannot wait. Instead, the process is stopped by a signal from inside the call, before
 * the call returns. The call is then restarted (ERESTARTNOINTR) when the daemon continues the
 * process (arch/<arch>/kernel/signal.c). By then a rule allows the access, or the daemon has stored
 * its denial in `asked_questions`, and the call is denied like any other.
 *
 * Fail closed: an access that cannot wait is denied at once. If another process sends SIGCONT, the
 * restarted call waits again.
 */
#ifndef CORDON_BPF_WAITING_BPF_H
#define CORDON_BPF_WAITING_BPF_H

#include "bpf/core/decide.bpf.h"

#define ERESTARTNOINTR 513

/*
 * Can the current system call be restarted without loss? Only these can: io_uring performs accesses
 * later, and other calls may have done half of their work.
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

/* Only an access that a rule could allow may wait, and not in observe mode. */
static __always_inline bool may_wait(const struct subject *s, __u32 operation, __u8 reason)
{
	return s->policy->ask_msec && reason == CORDON_REASON_DEFAULT && !observes(s) &&
	       s->execution->state == CORDON_EXECUTION_LIVE && can_begin_anew(operation);
}

static __always_inline bool may_ask_to_run(const struct subject *s, const struct answer *answer)
{
	return may_wait(s, CORDON_OP_EXEC, answer->reason);
}

/* Takes one of the execution's denials that may wait. */
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
	/* Another task may have added the same key meanwhile. */
	bpf_map_update_elem(&asked_questions, &key, &open, BPF_NOEXIST);
	return true;
}

/* Stops the process before the event is sent: the daemon must not continue it before the stop. */
static __always_inline bool stop_and_tell(struct walk *walk, const struct report *r, __u64 key,
					  struct event_scratch *scratch, __u64 now)
{
	struct cordon_event *event = (struct cordon_event *)scratch->header;
	__u32 size = fill_refusal(walk, scratch, r);

	fill_unnumbered(event, &r->label, r->policy, CORDON_EVENT_WAITS, size, now);
	event->sequence = key;
	/* Sent to this thread, so that its call finds a pending signal. */
	if (bpf_send_signal_thread(SIGSTOP))
		return false;
	if (bpf_ringbuf_output(&critical, scratch, size, 0) == 0)
		return true;
	/* Cancels a stop that has not taken effect yet. */
	bpf_send_signal_thread(SIGCONT);
	count(CORDON_COUNTER_CRITICAL_DROPPED);
	return false;
}

/*
 * Returns 1 if the process was stopped and the call is to be restarted, 0 if the access is denied.
 */
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

/* A separate function, so that its report is not on the stack together with deny()'s. */
static __noinline bool waits(const struct subject *s, __u64 refusal, __u64 identity,
			     const struct object *object)
{
	struct report report;

	fill_report(&report, s, refusal >> 32, object, &s->walk->answer);
	report.identity = identity;
	report.error = (__s32)refusal;
	return wait_for_answer(s->walk, s->execution, &report);
}

/* decide_answered() for accesses that may wait for approval. */
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
