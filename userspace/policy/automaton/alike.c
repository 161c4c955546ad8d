/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the states of two automata that grant and deny the same for every continuation. */
#include "policy/automaton/alike.h"

#include <stdlib.h>
#include <string.h>

static uint32_t number_verdict(struct automaton *both, const struct cordon_verdict *verdict)
{
	uint32_t i;

	for (i = 0; i < both->verdict_count; i++)
		if (both->verdicts[i].allow == verdict->allow &&
		    both->verdicts[i].deny == verdict->deny)
			return i;
	both->verdicts[both->verdict_count++] = *verdict;
	return i;
}

/* -ENOMEM. */
static int append(struct automaton *both, const struct automaton *a)
{
	uint32_t states = both->state_count, segments = both->first[states];
	_cleanup_(freep) uint32_t *number = calloc(a->verdict_count, sizeof(*number));

	if (!number)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->verdict_count; i++)
		number[i] = number_verdict(both, &a->verdicts[i]);
	for (uint32_t s = 0; s < a->state_count; s++) {
		both->verdict[states + s] = number[a->verdict[s]];
		both->first[states + s + 1] = segments + a->first[s + 1];
	}
	for (uint32_t i = 0; i < a->first[a->state_count]; i++)
		both->segments[segments + i] =
			(struct segment){states + a->segments[i].target, a->segments[i].last};
	both->state_count += a->state_count;
	return 0;
}

int alike_compare(const struct automaton *a, const struct automaton *b, struct alike *ret_alike)
{
	_cleanup_(automaton_freep) struct automaton *both = calloc(1, sizeof(*both));
	size_t states = (size_t)a->state_count + b->state_count;
	int r;

	if (!both)
		return -ENOMEM;
	both->first = calloc(states + 1, sizeof(*both->first));
	both->segments = calloc((size_t)a->first[a->state_count] + b->first[b->state_count],
				sizeof(*both->segments));
	both->verdict = calloc(states, sizeof(*both->verdict));
	both->verdicts =
		calloc((size_t)a->verdict_count + b->verdict_count, sizeof(*both->verdicts));
	if (!both->first || !both->segments || !both->verdict || !both->verdicts)
		return -ENOMEM;
	r = append(both, a);
	if (r == 0)
		r = append(both, b);
	if (r == 0)
		r = automaton_classes(both, &ret_alike->class_of);
	ret_alike->second = a->state_count;
	return r;
}

void alike_release(struct alike *alike)
{
	free(alike->class_of);
	*alike = (struct alike){};
}
