/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Questions about the names of kernel objects: runs of the automaton downwards from the root and
 * from each anchor, component by component, over what a climb found or, where a directory was asked
 * about before, over the last component alone.
 *
 * Fail closed: a name that renames disturb for too long is denied.
 */
#ifndef CORDON_BPF_PATH_BPF_H
#define CORDON_BPF_PATH_BPF_H

#include "bpf/core/directory_cache.bpf.h"

/*
 * How often, and for how long after that, what renames or changes of mounts disturb is asked again.
 * One container's start changes the tree of mounts once for each mount in it, and who is at it may
 * have lost a virtual processor for a while, as may who asks: time alone would say nothing. The
 * kernel's own readers of these sequences wait without limit; a task that is about it on purpose,
 * by the longest of names, must not hold up a processor for that long.
 */
#define NAME_ATTEMPTS	 (1u << 20)
#define NAME_PATIENCE	 100u
#define NAME_CLOCK_SHIFT 20 /* about a millisecond, which wraps */
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

/* Adds one run's outcome, or what it says of everything below. false: damaged tables. */
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
	/* Of several runs that deny, the first rule is named; CORDON_NO_RULE is the largest. */
	rule = deciding_rule(outcome, wanted);
	if (rule < a->rule)
		a->rule = rule;
	if (a->rule != CORDON_NO_RULE)
		a->reason = CORDON_REASON_RULE;
	return true;
}

/* The runs over the whole name; each anchor that the climb passes adds its own. */
static __always_inline void start_runs(const struct subject *s)
{
	struct walk *walk = s->walk;

	runs_prepare(s);
	if (walk->flags & NAME_TREE)
		__builtin_memset(walk->finals, 0, sizeof(walk->finals));
	run_add(walk, 0, start_state(s, CORDON_START_PATH), CORDON_MAX_COMPONENTS);
	run_add(walk, 1, start_state(s, CORDON_START_FLOATING), CORDON_MAX_COMPONENTS);
}

/* A slash behind the name: for a directory's listing, and for what lies below it. */
static __always_inline __u32 step_slash(const struct subject *s, __u32 state)
{
	return state & CORDON_ABSORBING ? state : step_any(s, &s->walk->matcher, state, '/');
}

/* What one run says of the name, and if it is to move with all below it, of that. */
static long judge_run(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	const struct name_run *run = &walk->runs[index & (RUN_SLOTS - 1)];
	__u32 below = run->state, state = run->state;
	bool listing = walk->flags & NAME_LISTING;

	/* The root directory has no components, and is named by the slash alone. */
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
		walk->finals[run->number] = below & CORDON_STATE_MASK;
	return 0;
}

/* Nothing is asked: the name is wanted, which the climb alone finds. */
static __always_inline bool is_for_the_record(const struct walk *walk)
{
	return !walk->wanted && !(walk->flags & (NAME_SOURCE | NAME_TREE));
}

/*
 * Sets up the runs of one attempt. The first attempt may start at the directory, if that is known;
 * all others start at the root.
 */
static __always_inline void attempt_prepare(const struct subject *s, __u32 attempt)
{
	struct walk *walk = s->walk;

	answer_clear(&walk->answer, walk->wanted);
	walk->broken = 0;
	walk->keep = 0;
	walk->reason = 0;
	walk->temporary = TEMPORARY_NOT;
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
	 * Again, under the sequence that it may be remembered with: a rename since it was noted
	 * would file the states of one directory under another.
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
 * Was the attempt undisturbed, so that its answer stands? From a remembered directory nothing but a
 * grant does.
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
	/* It may have ended early, because nothing could change any more. */
	if (walk->next > 0)
		directories_note(walk);
	if (walk->keep && walk->leaf.directory && !(walk->unstable & UNSTABLE_NAME))
		directory_remember(s);
	return true;
}

/*
 * Ends the attempts when their time is over. There is no use in another one where the count of
 * mounts reads 0: it cannot be read, see sequence_busy().
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
	/* From memory, so that what comes next is the same to the verifier after each outcome. */
	barrier();
	return walk->ended & 1;
}

/* What tells the object asked about last from others, while it lives. */
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

/* The question that was put, until it is answered or there is no more time for it. See APART(). */
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
 * Is what the question is about reached by a mount that is not of the reference namespace? Those of
 * the kernel's own, whose namespace is an error pointer, are not meant.
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
 * The question that was put, by the name that was used and by all others; of NAME_MOUNTLESS, by
 * those of all mounts. ask_whole_body(): elsewhere.bpf.h.
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
 * Asks for rights on the object named by dentry and mount, and whether another of its names denies
 * them; the answer stands in walk->answer. It is always complete: what cannot be resolved is
 * missing altogether.
 */
static __always_inline void ask_name(const struct subject *s, __u64 dentry, __u64 vfsmount,
				     __u32 question)
{
	put_name(s, dentry, vfsmount, question);
	ask_whole(APART(s));
}

/* The same where the hook was given the dentry itself: typed loads cost a tenth of a probe read. */
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

/* May everything below a directory move from the source asked last to this destination? */
static __always_inline bool same_tree_rights(const struct walk *walk)
{
	for (__u32 n = 0; n < NAME_RUNS; n++)
		if (walk->finals[n] != walk->from_finals[n])
			return false;
	return walk->others.below == walk->others.from_below;
}

#endif
