/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Checks by name: runs of the automaton over the components that a path walk found, from the root
 * and from each bound directory. If the directory is cached, the runs cover the last component
 * only.
 *
 * Fail closed: a name that renames disturb for too long is denied.
 */
#ifndef CORDON_BPF_PATH_BPF_H
#define CORDON_BPF_PATH_BPF_H

#include "bpf/core/directory_cache.bpf.h"

/*
 * Limits for repeating a check that renames or mount changes disturb: a number of attempts, then a
 * time. The start of one container changes the mount tree once for each of its mounts. Time alone
 * is no sufficient limit, because the virtual processor of either side may be paused. The kernel's
 * own readers of these sequences wait without limit. A task that causes the disturbance with very
 * long names must not block a processor that long.
 */
#define NAME_ATTEMPTS	 (1u << 20)
#define NAME_PATIENCE	 100u
#define NAME_CLOCK_SHIFT 20 /* about a millisecond; it wraps around */
#define NAME_AGAIN	 100u

static __always_inline void answer_clear(struct answer *a, __u32 wanted)
{
	a->verdict.allow = 0;
	a->verdict.deny = 0;
	a->verdict.may_allow = 0;
	a->verdict.must_allow = 0;
	a->verdict.may_deny = 0;
	a->rule = CORDON_NO_RULE;
	a->reason = CORDON_REASON_DEFAULT;
	a->missing = wanted;
}

static __always_inline void answer_unnamed(struct answer *a, __u32 wanted, __u32 reason)
{
	answer_clear(a, wanted);
	a->reason = reason;
}

/*
 * Adds the outcome of one run, or with `tree` its outcome for all names below. False: damaged
 * tables.
 */
static __always_inline bool answer_add(const struct subject *s, struct answer *a, __u32 state,
				       __u32 wanted, bool tree)
{
	const struct cordon_verdict *outcome;
	const struct cordon_final *final;
	__u16 rule;

	if (state == CORDON_STATE_BROKEN || !tables_outcome(s, state, &outcome, &final))
		return false;
	if (tree) {
		verdict_add_final(&a->verdict, final);
		return true;
	}
	verdict_add(&a->verdict, outcome);
	/* If several runs deny, report the lowest rule number; CORDON_NO_RULE is the highest. */
	rule = deciding_rule(outcome, wanted);
	if (rule < a->rule)
		a->rule = rule;
	if (a->rule != CORDON_NO_RULE)
		a->reason = CORDON_REASON_RULE;
	return true;
}

/* Starts the runs over the whole name. The path walk adds a run for each bound directory. */
static __always_inline void start_runs(const struct subject *s)
{
	struct walk *walk = s->walk;

	runs_prepare(s);
	if (walk->flags & NAME_TREE)
		__builtin_memset(walk->finals, 0, sizeof(walk->finals));
	run_add(walk, 0, start_state(s, CORDON_START_PATH), CORDON_MAX_COMPONENTS);
	run_add(walk, 1, start_state(s, CORDON_START_FLOATING), CORDON_MAX_COMPONENTS);
}

/* The state after a trailing slash: for listing a directory, and for names below it. */
static __always_inline __u32 step_slash(const struct subject *s, __u32 state)
{
	return state & CORDON_ABSORBING ? state : step_any(s, &s->walk->matcher, state, '/');
}

/* Final state of a run that became several: none, and a different one at each end of a move. */
static __always_inline __u32 forked_final(const struct walk *walk)
{
	return CORDON_ABSORBING | (walk->flags & NAME_SOURCE);
}

/* Adds the outcome of one run for the name, and with NAME_TREE for all names below it. */
static long judge_run(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	const struct name_run *run = &walk->runs[index & (RUN_SLOTS - 1)];
	__u32 below = run->state, state = run->state;
	bool listing = walk->flags & NAME_LISTING;

	/* The root directory has no components: its name is the slash. */
	if (listing || (walk->flags & NAME_TREE) || walk->depth == 0)
		below = step_slash(s, state);
	if (listing || (walk->depth == 0 && run->number < RUN_ANCHOR))
		state = below;
	if (!answer_add(s, &walk->answer, state, walk->wanted, false) ||
	    ((walk->flags & NAME_TREE) &&
	     !answer_add(s, &walk->answer, below, walk->wanted, true))) {
		walk->broken = 1;
		return 1;
	}
	if (walk->flags & NAME_TREE && run->number < NAME_RUNS)
		walk->finals[run->number] = walk->forked ? forked_final(walk)
							 : below & CORDON_STATE_MASK;
	return 0;
}

/* No right is checked: only the formatted path is needed, which the path walk finds. */
static __always_inline bool is_for_the_record(const struct walk *walk)
{
	return !walk->wanted && !(walk->flags & (NAME_SOURCE | NAME_TREE));
}

/*
 * Sets up the runs of one attempt. The first one may start at a cached directory. All others start
 * at the root.
 */
static __always_inline void attempt_prepare(const struct subject *s, __u32 attempt)
{
	struct walk *walk = s->walk;

	answer_clear(&walk->answer, walk->wanted);
	walk->broken = 0;
	walk->keep = 0;
	walk->reason = 0;
	walk->temporary = TEMPORARY_NOT;
	walk->own_terminal = 0;
	walk->partial = attempt == 0 ? directory_recall(s) : RECALL_NONE;
	if (walk->partial)
		return;
	walk->changes = directory_changes();
	walk->sequence = name_sequence();
	walk->noted.allow = 0;
	walk->noted.deny = 0;
	walk->above.allow = 0;
	walk->above.deny = 0;
	walk->above.dentry = 0;
	/*
	 * [D9] Read again under the sequence that the cache entry gets. After a rename, the states
	 * of one directory would otherwise be stored for another.
	 */
	if (walk->leaf.directory)
		note_leaf_at(walk, walk->dentry);
	start_runs(s);
	walk->reason = climb(s);
	walk->next = walk->depth;
	if (walk->reason || is_for_the_record(walk)) {
		walk->next = 0;
		walk->run_count = 0;
	}
}

/*
 * Was the attempt undisturbed, so that its result is valid? From a cached directory, only a grant
 * is.
 */
static __noinline bool attempt_settle(const struct subject *s)
{
	struct walk *walk = s->walk;
	struct answer *a = &walk->answer;

	if (walk->reason) {
		answer_unnamed(a, walk->wanted, walk->reason);
	} else if (walk->broken) {
		count(CORDON_COUNTER_BAD_TABLE);
		answer_unnamed(a, walk->wanted, CORDON_REASON_UNRESOLVED);
	} else {
		a->missing = verdict_missing(&a->verdict, walk->wanted);
	}
	if (finds_directory(walk) && walk->leaf.directory)
		directories_note_freed(walk);
	if (walk->partial ? a->missing || !recall_holds(walk)
			  : sequence_busy(walk->sequence) || name_sequence() != walk->sequence)
		return false;
	if (!finds_directory(walk))
		return true;
	/* The runs may have ended early, because no further component could change the outcome. */
	if (walk->next > 0)
		directories_note(walk);
	if (walk->keep && walk->leaf.directory && !(walk->unstable & UNSTABLE_NAME))
		directory_remember(s);
	return true;
}

/*
 * Ends the attempts when their time is over. Also ends them if mount_lock reads as 0, because it
 * cannot be read: see sequence_busy().
 */
static __noinline void note_disturbed(struct walk *walk, __u32 mounts)
{
	__u32 now;

	walk->ended = !mounts;
	if (walk->disturbed < NAME_PATIENCE) {
		walk->disturbed++;
		return;
	}
	now = bpf_ktime_get_boot_ns() >> NAME_CLOCK_SHIFT;
	if (!walk->ask_until)
		walk->ask_until = (now + NAME_AGAIN) | 1;
	if ((__s32)(walk->ask_until - now) <= 0)
		walk->ended = 1;
}

static long ask_attempt(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;

	attempt_prepare(s, index);
	bpf_loop((CORDON_MAX_COMPONENTS + 1) * NAME_RUNS * CHUNKS_PER_NAME, run_chunk, context, 0);
	bpf_loop(walk->run_count, judge_run, context, 0);
	walk->settled = attempt_settle(s);
	walk->ended = walk->settled;
	if (!walk->settled && !walk->partial)
		note_disturbed(walk, walk->sequence);
	/*
	 * Stored through memory, so that the verifier checks the code after it once for all
	 * outcomes.
	 */
	barrier();
	return walk->ended & 1;
}

/* Identifies the object of the last check while it exists. */
static __always_inline __u64 question_identity(const struct subject *s)
{
	return s->walk->dentry;
}

static __always_inline void begin_attempts(struct walk *walk)
{
	walk->disturbed = 0;
	walk->ask_until = 0;
}

#define NAME_QUESTION(rights, flags) ((__u32)(rights) | (__u32)(flags) << 16)

/* Repeats the check in `walk` until it is settled or its time is over. See APART(). */
__noinline int ask_attempts(APART_ARGUMENTS)
{
	struct subject s;

	if (!walk || !execution || !page)
		return 0;
	walk->settled = 0;
	if (subject_again(&s, walk, execution, page, policy, label))
		bpf_loop(NAME_ATTEMPTS, ask_attempt, &s, 0);
	if (!walk->settled) {
		count(CORDON_COUNTER_RENAME_RACE);
		answer_unnamed(&walk->answer, walk->wanted, CORDON_REASON_UNRESOLVED);
	}
	if (walk->flags & NAME_SOURCE) {
		walk->from = walk->answer;
		__builtin_memcpy(walk->from_finals, walk->finals, sizeof(walk->finals));
	}
	return 0;
}

static __always_inline void ask(const struct subject *s)
{
	ask_attempts(APART(s));
}

static __always_inline void put_question(struct walk *walk, __u64 dentry, __u64 vfsmount,
					 __u32 question)
{
	walk->dentry = dentry;
	walk->vfsmount = vfsmount;
	walk->wanted = question & 0xffffu;
	walk->flags = question >> 16;
}

/*
 * Is the object reached by a mount outside of the recorded mount namespace? Internal mounts of the
 * kernel, with an error pointer as namespace, are excluded.
 */
static __always_inline bool is_elsewhere(const struct subject *s, __u64 vfsmount)
{
	__u64 namespace;

	if (!has_own_namespaces(s))
		return false;
	namespace = read_u64(FIELD(struct mount, mount_of(vfsmount), mnt_ns));
	return namespace != s->execution->mount_namespace && !IS_ERR_VALUE(namespace);
}

/*
 * Performs the check in `walk`, by the name in the access and by all path aliases. With
 * NAME_MOUNTLESS, by the names on all mounts. The body is ask_whole_body() in elsewhere.bpf.h.
 */
STUB int ask_whole(APART_ARGUMENTS)
{
	if (!walk)
		return 0;
	walk->partial = RECALL_NONE;
	walk->depth = 0;
	walk->run_count = 0;
	answer_unnamed(&walk->answer, walk->wanted, CORDON_REASON_UNRESOLVED);
	if (walk->flags & NAME_SOURCE)
		walk->from = walk->answer;
	return 0;
}

static __always_inline void put_name(const struct subject *s, __u64 dentry, __u64 vfsmount,
				     __u32 question)
{
	put_question(s->walk, dentry, vfsmount, question);
	begin_attempts(s->walk);
	barrier();
	s->walk->leaf.directory = 0;
	if (is_cacheable(s))
		note_leaf_at(s->walk, s->walk->dentry);
}

/*
 * Checks rights on the object that dentry and mount name, and whether a path alias denies them.
 * Stores the result in walk->answer. If the object cannot be resolved, all rights are missing.
 */
static __always_inline void ask_name(const struct subject *s, __u64 dentry, __u64 vfsmount,
				     __u32 question)
{
	put_name(s, dentry, vfsmount, question);
	ask_whole(APART(s));
}

/* The same for a hook's own dentry: direct loads cost a tenth of a probe read. */
static __always_inline void ask_dentry(const struct subject *s, const struct dentry *dentry,
				       __u64 vfsmount, __u32 question)
{
	put_question(s->walk, (__u64)dentry, vfsmount, question);
	begin_attempts(s->walk);
	s->walk->leaf.directory = 0;
	if (is_cacheable(s))
		note_leaf(s->walk, dentry);
	ask_whole(APART(s));
}

/*
 * [M2] Are the states below the directory equal at the source checked last and at this destination?
 */
static __always_inline bool same_tree_rights(const struct walk *walk)
{
	for (__u32 n = 0; n < NAME_RUNS; n++)
		if (walk->finals[n] != walk->from_finals[n])
			return false;
	return walk->others.below == walk->others.from_below;
}

#endif
