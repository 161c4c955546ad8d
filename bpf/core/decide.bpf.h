/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * From an answer to a return value: deny, or in observe mode report and allow. Every hook ends
 * here, so that a denial is counted and reported the same way everywhere.
 */
#ifndef CORDON_BPF_DECIDE_BPF_H
#define CORDON_BPF_DECIDE_BPF_H

#include "bpf/core/event.bpf.h"

/*
 * Denials that cannot be attributed to a live execution have no slot to report to; the counter
 * says that they happened.
 */
static __always_inline int deny_unknown(void)
{
	return -EACCES;
}

static __noinline int deny(const struct subject *s, const struct denial *denial,
			   const struct object *object, const struct answer *answer)
{
	struct cordon_execution *execution = s->execution;
	struct denial d = *denial;

	/* What is being killed gets no further, observed or not. */
	d.would = observes(s) && answer->reason != CORDON_REASON_ENDING;
	if (answer->reason == CORDON_REASON_UNRESOLVED) {
		count(CORDON_COUNTER_UNRESOLVED);
		__sync_fetch_and_add(&execution->unresolved, 1);
	}
	if (d.would)
		__sync_fetch_and_add(&execution->would_denials, 1);
	else
		__sync_fetch_and_add(&execution->denials, 1);
	report_denial(s, &d, object, answer);
	if (d.would)
		return 0;
	/* The verifier wants to see that this is an error number. */
	return d.error < 0 && d.error >= -MAX_ERRNO ? d.error : -EACCES;
}

/* Denies, for a reason that is not a policy rule, something named by a number. */
static __always_inline int deny_number(const struct subject *s, __u32 operation, __u64 number,
				       __u32 reason, __s32 error)
{
	struct object object = {.kind = CORDON_OBJECT_NUMBER, .number = number};
	struct denial denial = {.operation = operation, .error = error, .identity = number};
	struct answer answer = {.rule = CORDON_NO_RULE, .reason = reason};

	return deny(s, &denial, &object, &answer);
}

static __always_inline int deny_process(const struct subject *s, __u32 operation, __u64 task,
					__u32 pid, __u64 number)
{
	const struct label *target = label_of_address(task);
	struct object object = {
		.kind = CORDON_OBJECT_PROCESS,
		.process = {.pid = pid,
			    .slot = target ? target->slot : 0xffffffffu,
			    .number = number},
	};
	struct denial denial = {
		.operation = operation, .error = -EPERM, .identity = mix(pid, number)};
	struct answer answer = {.rule = CORDON_NO_RULE, .reason = CORDON_REASON_FOREIGN};

	return deny(s, &denial, &object, &answer);
}

/*
 * Hooks whose whole answer is "no execution does this": mounts, bpf(), kernel modules and the
 * like. No policy can allow them.
 */
static __always_inline int refuse_builtin(__u32 operation, __u64 number)
{
	struct subject s;

	switch (subject_get(&s)) {
	case SUBJECT_OUTSIDE:
		return 0;
	case SUBJECT_UNKNOWN:
		return -EPERM;
	default:
		return deny_number(&s, operation, number, CORDON_REASON_BUILTIN, -EPERM);
	}
}

/* Turns what was answered last, in walk->answer, into a return value. */
static __always_inline int decide_answered(const struct subject *s, __u32 operation,
					   const struct object *object, __u64 identity, __s32 error)
{
	struct denial denial = {.operation = operation, .error = error, .identity = identity};

	if (!s->walk->answer.missing)
		return 0;
	return deny(s, &denial, object, &s->walk->answer);
}

/* No scratch to put the question in, or an object that cannot be read: as good as no name. */
static __always_inline int deny_unasked(const struct subject *s, __u32 operation)
{
	return deny_number(s, operation, 0, CORDON_REASON_UNRESOLVED, -EACCES);
}

/*
 * The common question: may the current task have `rights` on the object behind dentry and mount?
 * For subjects that are executions; others never get here.
 */
static __always_inline int decide_name(struct subject *s, __u32 operation, __u64 dentry,
				       __u64 vfsmount, __u32 question)
{
	struct object object = {.kind = CORDON_OBJECT_PATH};

	if (!subject_need_walk(s))
		return deny_unasked(s, operation);
	ask_name(s, dentry, vfsmount, question);
	return decide_answered(s, operation, &object, s->walk->dentry, -EACCES);
}

/* A question whose bytes stand in walk->name; the answer goes to walk->answer. */
static __noinline void ask_short(const struct subject *s, __u32 start, __u32 length, __u32 rights)
{
	struct answer *answer = &s->walk->answer;
	__u32 state;

	answer_clear(answer, rights);
	state = run_short(s, start, length & CORDON_NAME_MAX);
	if (answer_add(s, answer, state, rights, false)) {
		answer->missing = verdict_missing(&answer->verdict, rights);
	} else {
		count(CORDON_COUNTER_BAD_TABLE);
		answer_unnamed(answer, rights, CORDON_REASON_UNRESOLVED);
	}
}

/* The question is in walk->name, of one of the lengths that questions about sockets and addresses have. */
static __always_inline bool is_last_grant(const struct subject *s, const struct short_grant *last,
					  __u32 length, __u32 rights)
{
	const __u64 *name = (const __u64 *)s->walk->name;

	if (last->policy != s->policy_ref || last->length != length || last->rights != rights)
		return false;
	if (length == 4)
		return last->words[0] == (__u32)name[0];
	if (length == 8)
		return last->words[0] == name[0];
	return last->words[0] == name[0] && last->words[1] == name[1] &&
	       last->words[2] == (__u32)name[2];
}

static __always_inline void remember_grant(const struct subject *s, struct short_grant *last,
					   __u32 length, __u32 rights)
{
	const __u64 *name = (const __u64 *)s->walk->name;

	last->policy = 0;
	if (length != 4 && length != 8 && length != 20)
		return;
	last->words[0] = length == 4 ? (__u32)name[0] : name[0];
	last->words[1] = name[1];
	last->words[2] = (__u32)name[2];
	last->length = length;
	last->rights = rights;
	last->policy = s->policy_ref;
}

/*
 * ask_short() for sockets' kinds and addresses, answered at once if it is the one that was granted last. Not where the
 * calls are deepest: together they may have 512 bytes of stack.
 */
static __noinline void ask_again(const struct subject *s, __u32 start, __u32 length, __u32 rights)
{
	struct short_grant *last = &s->walk->grants[start == CORDON_START_NET];

	if (is_last_grant(s, last, length, rights)) {
		answer_clear(&s->walk->answer, rights);
		s->walk->answer.verdict.allow = rights;
		s->walk->answer.missing = 0;
		return;
	}
	ask_short(s, start, length, rights);
	if (!s->walk->answer.missing)
		remember_grant(s, last, length, rights);
}

/* For coalescing: the first bytes of a short question tell it from others. */
static __always_inline __u64 short_identity(const struct subject *s, __u32 length)
{
	const __u64 *words = (const __u64 *)s->walk->name;

	return mix(mix(mix(length, words[0]), words[1]), words[2]);
}

static __always_inline int decide_short(struct subject *s, __u32 operation, __u32 start,
					__u32 length, __u32 rights, __u32 kind)
{
	struct object object = {.kind = kind, .length = length};

	ask_short(s, start, length, rights);
	return decide_answered(s, operation, &object, short_identity(s, length), -EACCES);
}

/* "@anonymous" and "@memfd": what has no name but can be mapped or run. Returns the length. */
static __always_inline __u32 spell_special(const struct subject *s, bool memfd)
{
	if (memfd) {
		__builtin_memcpy(s->walk->name, "@memfd", 6);
		return 6;
	}
	__builtin_memcpy(s->walk->name, "@anonymous", 10);
	return 10;
}

/*
 * How every LSM program here begins: an earlier program's refusal stands, and tasks of no
 * execution are let through.
 */
#define ENTER(subject, ret)                                                                        \
	do {                                                                                       \
		enum subject_kind kind_;                                                           \
		if (ret)                                                                           \
			return ret;                                                                \
		kind_ = subject_get(subject);                                                      \
		if (kind_ == SUBJECT_OUTSIDE)                                                      \
			return 0;                                                                  \
		if (kind_ == SUBJECT_UNKNOWN)                                                      \
			return deny_unknown();                                                     \
	} while (0)

/* And how it ends. */
#define LEAVE(subject, verdict)                                                                    \
	({                                                                                         \
		int verdict_ = (verdict);                                                          \
		subject_put(subject);                                                              \
		verdict_;                                                                          \
	})

#endif
