/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * From a result to a hook's return value: deny, or in observe mode log and allow. Every hook ends
 * here, so that all denials are counted and logged the same way.
 */
#ifndef CORDON_BPF_DECIDE_BPF_H
#define CORDON_BPF_DECIDE_BPF_H

#include "bpf/core/event.bpf.h"

/* Denies a task without a live execution. There is no slot to log it to, so it is only counted. */
static __always_inline int deny_unknown(void)
{
	return -EACCES;
}

/* Operation and error in one argument, because a function has at most five. */
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
	/* A task that is being killed is denied even in observe mode. */
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
	/* Shows the verifier that the value is an error number. */
	return report.error < 0 && report.error >= -MAX_ERRNO ? report.error : -EACCES;
}

static __noinline int deny(const struct subject *s, __u64 refusal, __u64 identity,
			   const struct object *object, const struct answer *answer)
{
	return deny_by(s, refusal, identity, object, answer, report_denial);
}

/*
 * Denies an object that a number identifies, for a reason other than a rule. A separate function,
 * so that its variables are not on the stack during checks by name. Otherwise the deepest calls
 * would exceed 512 bytes.
 */
static __noinline int deny_number(const struct subject *s, __u32 operation, __u64 number,
				  __u32 reason, __s32 error)
{
	struct object object = {.kind = CORDON_OBJECT_NUMBER, .number = number};
	struct answer answer = {.rule = CORDON_NO_RULE, .reason = reason};

	return deny(s, REFUSAL(operation, error), number, &object, &answer);
}

/* deny_number() for fexit programs, which cannot have stubs. */
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
 * For hooks that no execution may pass: mounts, bpf(), kernel modules and the like. No policy can
 * allow them.
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

/* Turns the result of the last check, in walk->answer, into a return value. */
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

/*
 * EPERM if only LINKS is missing, as for an immutable file: programs then replace the file instead.
 */
static __always_inline __s32 error_of_change(const struct subject *s)
{
	return s->walk->answer.missing == LINKS ? -EPERM : -EACCES;
}

/* decide_answered() for a check by name. */
static __always_inline int decide_path(const struct subject *s, __u32 operation, __s32 error)
{
	return s->walk->answer.missing ? deny_path(s, operation, error) : 0;
}

/* The audit level that the policy or the host requires for one kind of access. */
#define AUDIT_LEVEL(s, what)                                                                       \
	higher_level(CORDON_AUDIT_LEVEL((s)->policy->audit, what),                                 \
		     CORDON_AUDIT_LEVEL((s)->execution->audit, what))

static __always_inline __u32 higher_level(__u32 one, __u32 other)
{
	return one > other ? one : other;
}

/* Are allowed accesses to files with these rights logged? */
static __always_inline bool is_reported(const struct subject *s, __u32 rights)
{
	__u32 level = AUDIT_LEVEL(s, OPENS);

	return level == CORDON_AUDIT_ALL ||
	       (level == CORDON_AUDIT_WRITES && (rights & CORDON_RIGHT(CORDON_WRITE)));
}

/*
 * Logs an allowed access. A separate function, so that its variables are not on the stack during
 * checks by name.
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
 * Flag for the check of a name that is to be changed: decide_change() may need the formatted path.
 */
static __always_inline __u32 spelled_change(const struct subject *s)
{
	return reports_changes(s) ? NAME_SPELLED : 0;
}

/*
 * decide_path() for creating, changing and removing: logs an allowed access if required. Opens are
 * not sufficient, because other calls change files, and a removed file may never have been opened.
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

/*
 * Denies if there is no scratch, or if the object cannot be read: as for an object without a name.
 */
static __always_inline int deny_unasked(const struct subject *s, __u32 operation)
{
	return deny_number(s, operation, 0, CORDON_REASON_UNRESOLVED, -EACCES);
}

/* Checks the key in walk->name, and stores the result in walk->answer. See APART(). */
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
 * Was the key in walk->name granted last? Keys of sockets and addresses have one of
 * these lengths.
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
 * ask_short() for socket kinds and addresses, which returns at once for the last granted key. Not
 * used in the deepest calls, which may have 512 bytes of stack together.
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

/* For coalescing: identifies a short key by its first bytes. */
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

/*
 * Writes "@anonymous" or "@memfd" for objects without a name that can be mapped or run. Returns the
 * length.
 */
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
 * The start of every LSM program here: denials of earlier programs remain, and tasks without an
 * execution pass.
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

/* The end of every LSM program here. */
#define LEAVE(subject, verdict)                                                                    \
	({                                                                                         \
		int verdict_ = (verdict);                                                          \
		subject_put(subject);                                                              \
		verdict_;                                                                          \
	})

#endif
