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

/*
 * What is refused, and with which error, in one: a function has five arguments, and the stack
 * little room.
 */
#define REFUSAL(operation, error) ((__u64)(operation) << 32 | (__u32)(error))

typedef int report_function(struct walk *walk, struct cordon_execution *execution,
			    const struct report *r);

static __always_inline int deny_by(const struct subject *s, __u64 refusal, __u64 identity,
				   const struct object *object, const struct answer *answer,
				   report_function *report_to)
{
	struct cordon_execution *execution = s->execution;
	struct report report;

	fill_report(&report, s, refusal >> 32, object, answer);
	report.identity = identity;
	report.error = (__s32)refusal;
	/* What is being killed gets no further, observed or not. */
	report.would = report.observed && answer->reason != CORDON_REASON_ENDING;
	if (answer->reason == CORDON_REASON_UNRESOLVED) {
		count(CORDON_COUNTER_UNRESOLVED);
		__sync_fetch_and_add(&execution->unresolved, 1);
	}
	if (report.would)
		__sync_fetch_and_add(&execution->would_denials, 1);
	else
		__sync_fetch_and_add(&execution->denials, 1);
	report_to(s->walk, execution, &report);
	if (report.would)
		return 0;
	/* The verifier wants to see that this is an error number. */
	return report.error < 0 && report.error >= -MAX_ERRNO ? report.error : -EACCES;
}

static __noinline int deny(const struct subject *s, __u64 refusal, __u64 identity,
			   const struct object *object, const struct answer *answer)
{
	return deny_by(s, refusal, identity, object, answer, report_denial);
}

/*
 * Denies, for a reason that is not a policy rule, something named by a number. By itself, so that
 * what it has on the stack is not there while names are asked about: with that, the deepest calls
 * fill the 512 bytes.
 */
static __noinline int deny_number(const struct subject *s, __u32 operation, __u64 number,
				  __u32 reason, __s32 error)
{
	struct object object = {.kind = CORDON_OBJECT_NUMBER, .number = number};
	struct answer answer = {.rule = CORDON_NO_RULE, .reason = reason};

	return deny(s, REFUSAL(operation, error), number, &object, &answer);
}

/* deny_number() for fexit programs, in which no function can be replaced. */
static __noinline int deny_number_at_exit(const struct subject *s, __u32 operation, __u64 number,
					  __u32 reason, __s32 error)
{
	struct object object = {.kind = CORDON_OBJECT_NUMBER, .number = number};
	struct answer answer = {.rule = CORDON_NO_RULE, .reason = reason};

	return deny_by(s, REFUSAL(operation, error), number, &object, &answer, report_denial_body);
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
	struct answer answer = {.rule = CORDON_NO_RULE, .reason = CORDON_REASON_FOREIGN};

	return deny(s, REFUSAL(operation, -EPERM), mix(pid, number), &object, &answer);
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

static __noinline int deny_answered(const struct subject *s, __u32 operation,
				    const struct object *object, __u64 identity, __s32 error)
{
	return deny(s, REFUSAL(operation, error), identity, object, &s->walk->answer);
}

/* Turns what was answered last, in walk->answer, into a return value. */
static __always_inline int decide_answered(const struct subject *s, __u32 operation,
					   const struct object *object, __u64 identity, __s32 error)
{
	return s->walk->answer.missing ? deny_answered(s, operation, object, identity, error) : 0;
}

static __noinline int deny_path(const struct subject *s, __u32 operation, __s32 error)
{
	struct object object = {.kind = CORDON_OBJECT_PATH};

	return deny(s, REFUSAL(operation, error), s->walk->dentry, &object, &s->walk->answer);
}

#define WRITE CORDON_RIGHT(CORDON_WRITE)
#define LINKS CORDON_RIGHT(CORDON_LINKS)

/* A file that may be written but for its other names can be replaced, as EPERM says. */
static __always_inline __s32 error_of_change(const struct subject *s)
{
	return s->walk->answer.missing == LINKS ? -EPERM : -EACCES;
}

/* decide_answered() for what was asked about by its name. */
static __always_inline int decide_path(const struct subject *s, __u32 operation, __s32 error)
{
	return s->walk->answer.missing ? deny_path(s, operation, error) : 0;
}

/*
 * What the policy wants to see of one kind of access, or the host wants to see of whatever policy.
 */
#define AUDIT_LEVEL(s, what)                                                                       \
	higher_level(CORDON_AUDIT_LEVEL((s)->policy->audit, what),                                 \
		     CORDON_AUDIT_LEVEL((s)->execution->audit, what))

static __always_inline __u32 higher_level(__u32 one, __u32 other)
{
	return one > other ? one : other;
}

/* Are accesses with these rights to files to be seen, if they are allowed? */
static __always_inline bool is_reported(const struct subject *s, __u32 rights)
{
	__u32 level = AUDIT_LEVEL(s, OPENS);

	return level == CORDON_AUDIT_ALL ||
	       (level == CORDON_AUDIT_WRITES && (rights & CORDON_RIGHT(CORDON_WRITE)));
}

/*
 * An allowed access. By itself, so that what it has on the stack is not there while names are asked
 * about.
 */
static __noinline void report_path(const struct subject *s, __u32 type, __u32 operation,
				   __u32 rights)
{
	struct object object = {.kind = CORDON_OBJECT_PATH};
	struct report report;

	fill_report(&report, s, operation, &object, &s->walk->answer);
	report.type = type;
	report.rights = rights;
	report_access(s->walk, s->execution, &report);
}

static __always_inline bool reports_changes(const struct subject *s)
{
	return is_reported(s, CORDON_RIGHT(CORDON_WRITE));
}

/*
 * A flag of the question about a name that is to be changed: its answer may be put on record by
 * decide_change().
 */
static __always_inline __u32 spelled_change(const struct subject *s)
{
	return reports_changes(s) ? NAME_SPELLED : 0;
}

/*
 * decide_path() for what makes, changes or takes away: allowed, it is put on record where the
 * policy says so. An open is not all that changes a file, and what is gone was perhaps never
 * opened.
 */
static __always_inline int decide_change(const struct subject *s, __u32 operation, __s32 error,
					 __u32 rights)
{
	if (s->walk->answer.missing)
		return deny_path(s, operation, error);
	if (reports_changes(s))
		report_path(s, CORDON_EVENT_CHANGE, operation, rights);
	return 0;
}

/* No scratch to put the question in, or an object that cannot be read: as good as no name. */
static __always_inline int deny_unasked(const struct subject *s, __u32 operation)
{
	return deny_number(s, operation, 0, CORDON_REASON_UNRESOLVED, -EACCES);
}

/* A question whose bytes stand in walk->name; the answer goes to walk->answer. See APART(). */
STUB int ask_bytes(struct walk *walk, struct policy_page *page, __u64 policy,
		   __u64 start_and_length, __u32 rights)
{
	if (walk)
		answer_unnamed(&walk->answer, rights, CORDON_REASON_UNRESOLVED);
	return 0;
}

__noinline int ask_bytes_body(struct walk *walk, struct policy_page *page, __u64 policy,
			      __u64 start_and_length, __u32 rights)
{
	struct subject s;
	__u32 state;

	if (!walk || !page)
		return 0;
	answer_clear(&walk->answer, rights);
	if (subject_again(&s, walk, 0, page, policy, 0)) {
		state = run_short(&s, start_and_length >> 32, start_and_length & CORDON_NAME_MAX);
		if (answer_add(&s, &walk->answer, state, rights, false)) {
			walk->answer.missing = verdict_missing(&walk->answer.verdict, rights);
			return 0;
		}
	}
	count(CORDON_COUNTER_BAD_TABLE);
	answer_unnamed(&walk->answer, rights, CORDON_REASON_UNRESOLVED);
	return 0;
}

/* ask_short() for functions of the engine. */
static __always_inline void ask_short_body(const struct subject *s, __u32 start, __u32 length,
					   __u32 rights)
{
	ask_bytes_body(s->walk, (struct policy_page *)s->policy, s->policy_ref,
		       (__u64)start << 32 | length, rights);
}

static __always_inline void ask_short(const struct subject *s, __u32 start, __u32 length,
				      __u32 rights)
{
	ask_bytes(s->walk, (struct policy_page *)s->policy, s->policy_ref,
		  (__u64)start << 32 | length, rights);
}

/*
 * The question is in walk->name, of one of the lengths that questions about sockets and addresses
 * have.
 */
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
 * ask_short() for sockets' kinds and addresses, answered at once if it is the one that was granted
 * last. Not where the calls are deepest: together they may have 512 bytes of stack.
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
