/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * [M4] Checks whether rules apply to names below a symbolic link in particular
 * (bpf/pure/verdict.h).
 */
#ifndef CORDON_BPF_BELOW_BPF_H
#define CORDON_BPF_BELOW_BPF_H

#include "bpf/core/path.bpf.h"

#define UNSPOKEN_STEPS (1 + UNSPOKEN_LENGTH + 1) /* "/name/"; then "name/" below it */
#define BELOW_STEPS    (2 * UNSPOKEN_STEPS - 1)

static long step_below(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	bool slash = index % (UNSPOKEN_STEPS - 1) == 0;

	walk->way = step_any(s, &walk->matcher, walk->way, slash ? '/' : UNSPOKEN_BYTE);
	/* An absorbing state is the final state of all names that continue from here. */
	if (index == UNSPOKEN_STEPS - 1 ||
	    (index < UNSPOKEN_STEPS && (walk->way & CORDON_ABSORBING)))
		walk->beside = walk->way;
	return (walk->way & CORDON_ABSORBING) != 0;
}

/* Do both states give the same outcome for creating names? */
static __always_inline bool is_same_below(const struct subject *s, __u32 a, __u32 b)
{
	const struct cordon_verdict *outcome;
	const struct cordon_final *one, *other;

	return a == b ||
	       (a != CORDON_STATE_BROKEN && b != CORDON_STATE_BROKEN &&
		tables_outcome(s, a, &outcome, &one) && tables_outcome(s, b, &outcome, &other) &&
		!verdict_speaks_of_making(one) && !verdict_speaks_of_making(other));
}

static long compare_below(__u32 index, void *context)
{
	const struct subject *s = context;
	struct walk *walk = s->walk;
	__u32 run = index & (DIRECTORY_STATES - 1);

	walk->way = walk->noted.state[run];
	walk->beside = walk->way;
	if (!(walk->way & CORDON_ABSORBING))
		bpf_loop(BELOW_STEPS, step_below, context, 0);
	if (!is_same_below(s, walk->way, walk->beside) ||
	    !is_same_below(s, walk->beside, step_slash(s, walk->runs[run].state)))
		walk->others.spoken = 1;
	return walk->others.spoken & 1;
}

/*
 * Examines the name of the last check, which had NAME_SPELLED, from the root on. Stores the result
 * in others.spoken.
 */
static __noinline void note_spoken_below(const struct subject *s)
{
	struct walk *walk = s->walk;

	/*
	 * More bound directories above it than the arrays hold, or several spellings: assume that
	 * rules apply.
	 */
	if (walk->run_count > DIRECTORY_STATES || walk->forked)
		walk->others.spoken = 1;
	else
		bpf_loop(walk->run_count, compare_below, (void *)s, 0);
}

#endif
