/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the possible verdicts of all names that continue from an automaton's state. */
#include "policy/automaton/finals.h"

bool automaton_is_absorbing(const struct automaton *a, uint32_t state)
{
	return a->first[state + 1] - a->first[state] == 1 &&
	       a->segments[a->first[state]].target == state;
}

/* Adds one more byte of lookahead to a state. True: its masks changed. */
static bool widen(const struct automaton *a, struct cordon_final *finals, uint32_t state)
{
	const struct cordon_verdict *v = &a->verdicts[a->verdict[state]];
	struct cordon_final next = {
		.verdict = finals[state].verdict,
		.may_allow = finals[state].may_allow | (v->allow & CORDON_ALL_RIGHTS),
		.must_allow = finals[state].must_allow & v->allow,
		/* An exception takes back the deny of single names. */
		.may_deny = finals[state].may_deny | (v->deny & CORDON_ALL_RIGHTS),
	};
	bool changed;

	for (uint32_t i = a->first[state]; i < a->first[state + 1]; i++) {
		const struct cordon_final *behind = &finals[a->segments[i].target];

		next.may_allow |= behind->may_allow;
		next.must_allow &= behind->must_allow;
		next.may_deny |= behind->may_deny;
	}
	changed = next.may_allow != finals[state].may_allow ||
		  next.must_allow != finals[state].must_allow ||
		  next.may_deny != finals[state].may_deny;
	finals[state] = next;
	return changed;
}

/*
 * Computes the least fixpoint of the two "may" masks and the greatest fixpoint of the "must" mask.
 * State numbers grow with the distance from the start, so iterating backwards settles most states
 * in one pass.
 */
int finals_compute(const struct automaton *a, struct cordon_final **ret_finals)
{
	struct cordon_final *finals = calloc(a->state_count, sizeof(*finals));
	bool changed = true;

	if (!finals)
		return -ENOMEM;
	for (uint32_t s = 0; s < a->state_count; s++) {
		finals[s].verdict = a->verdict[s];
		finals[s].must_allow = CORDON_ALL_RIGHTS;
	}
	while (changed) {
		changed = false;
		for (uint32_t s = a->state_count; s-- > 0;)
			changed |= widen(a, finals, s);
	}
	*ret_finals = finals;
	return 0;
}
