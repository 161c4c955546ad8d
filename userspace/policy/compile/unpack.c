/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the tables of a compiled policy back to an automaton. */
#include "policy/compile/unpack.h"

#include <string.h>

#include "policy/core/vector.h"

struct tables {
	const struct cordon_policy_header *header;
	const struct cordon_state *states;
	const struct cordon_edge *edges;
	const struct cordon_final *finals;
	const struct cordon_verdict *verdicts;
	bool exceptions;
};

static struct tables open_tables(const unsigned char *tables)
{
	const struct cordon_policy_header *h = (const void *)tables;
	struct tables t = {
		.header = h,
		.states = (const void *)(tables + h->states_offset),
		.edges = (const void *)(tables + h->edges_offset),
		.finals = (const void *)(tables + h->finals_offset),
		.verdicts = (const void *)(tables + h->verdicts_offset),
	};

	for (uint32_t i = 0; i < h->verdicts_count; i++)
		t.exceptions |= t.verdicts[i].except;
	return t;
}

static int add_segments(struct automaton *a, const struct tables *t, uint32_t state, size_t *count,
			size_t *capacity)
{
	const struct cordon_state *s = &t->states[state];

	a->first[state] = (uint32_t)*count;
	if (vector_reserve(&a->segments, capacity, *count + 256) < 0)
		return -ENOMEM;
	for (unsigned int byte = 0; byte < 256; byte++) {
		const struct cordon_edge *e = &t->edges[s->base + byte];
		uint32_t target = (e->check == state ? e->next : s->otherwise) & CORDON_STATE_MASK;

		if (*count > a->first[state] && a->segments[*count - 1].target == target)
			a->segments[*count - 1].last = (uint8_t)byte;
		else
			a->segments[(*count)++] = (struct segment){target, (uint8_t)byte};
	}
	return 0;
}

/*
 * Final denies override allows. All policies get the bits of exceptions (bpf/abi.h), so that the
 * masks of policies with and without exceptions compare equal.
 */
static struct cordon_verdict strip_masks(const struct tables *t, const struct cordon_verdict *v,
					 uint32_t rights)
{
	uint32_t deny = v->deny & rights & CORDON_ALL_RIGHTS;
	uint32_t final = t->exceptions ? v->deny >> CORDON_EXCEPT_SHIFT & rights : deny;
	uint32_t except = v->allow >> CORDON_EXCEPT_SHIFT & rights & ~final;

	return (struct cordon_verdict){
		.allow = (v->allow & ~final & rights & CORDON_ALL_RIGHTS) |
			 except << CORDON_EXCEPT_SHIFT,
		.deny = deny | final << CORDON_EXCEPT_SHIFT,
		.except = except ? v->except : 0,
	};
}

/* There are only few different masks, however many rules there are. */
static uint32_t find_masks(struct automaton *a, const struct tables *t,
			   const struct cordon_verdict *v, uint32_t rights)
{
	struct cordon_verdict stripped = strip_masks(t, v, rights);

	stripped.except = 0;
	memset(stripped.rule, 0xff, sizeof(stripped.rule));
	for (uint32_t i = 0; i < a->verdict_count; i++)
		if (memcmp(&a->verdicts[i], &stripped, sizeof(stripped)) == 0)
			return i;
	a->verdicts[a->verdict_count] = stripped;
	return a->verdict_count++;
}

/*
 * Denied rights have no rule number, so the deciding deny rule makes no difference. The rights that
 * are not allowed have none either.
 */
static struct cordon_verdict without_denies(const struct tables *t, const struct cordon_verdict *v,
					    uint32_t rights)
{
	struct cordon_verdict stripped = strip_masks(t, v, rights);

	for (unsigned int right = 0; right < CORDON_RIGHT_SLOTS; right++)
		stripped.rule[right] = stripped.allow & CORDON_RIGHT(right) ? v->rule[right]
									    : CORDON_NO_RULE;
	return stripped;
}

static int compare_verdicts(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct cordon_verdict));
}

/*
 * Assigns numbers to the distinct verdicts, starting with 0. With rules there may be many. -ENOMEM.
 */
static int number_rules(const struct tables *t, struct automaton *a, uint32_t rights,
			uint32_t *numbers)
{
	size_t count = t->header->verdicts_count, kept = 0;
	struct cordon_verdict *list = a->verdicts + 1;

	for (size_t i = 0; i < count; i++)
		list[i] = without_denies(t, &t->verdicts[i], rights);
	qsort(list, count, sizeof(*list), compare_verdicts);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || compare_verdicts(&list[kept - 1], &list[i]) != 0)
			list[kept++] = list[i];
	a->verdict_count = (uint32_t)kept + 1;
	for (size_t i = 0; i < count; i++) {
		struct cordon_verdict wanted = without_denies(t, &t->verdicts[i], rights);
		const struct cordon_verdict *found =
			bsearch(&wanted, list, kept, sizeof(*list), compare_verdicts);

		if (!found)
			return -EINVAL;
		numbers[i] = wanted.allow | wanted.deny ? (uint32_t)(found - a->verdicts) : 0;
	}
	return 0;
}

static int unpack(const struct tables *t, bool rules, uint32_t rights,
		  struct automaton **ret_automaton)
{
	_cleanup_(automaton_freep) struct automaton *a = calloc(1, sizeof(*a));
	_cleanup_(freep) uint32_t *masks = calloc(t->header->verdicts_count, sizeof(*masks));
	/* Verdict 0 is empty. */
	struct cordon_verdict nothing = {0};
	size_t count = 0, capacity = 0;

	if (!a || !masks)
		return -ENOMEM;
	a->state_count = t->header->states_count;
	a->first = calloc(a->state_count + 1u, sizeof(*a->first));
	a->verdict = calloc(a->state_count, sizeof(*a->verdict));
	a->verdicts = calloc(t->header->verdicts_count + 1u, sizeof(*a->verdicts));
	if (!a->first || !a->verdict || !a->verdicts)
		return -ENOMEM;
	find_masks(a, t, &nothing, rights);
	for (uint32_t i = 0; i < t->header->verdicts_count && !rules; i++)
		masks[i] = find_masks(a, t, &t->verdicts[i], rights);
	if (rules && number_rules(t, a, rights, masks) < 0)
		return -EINVAL;
	for (uint32_t s = 0; s < a->state_count; s++) {
		a->verdict[s] = masks[t->finals[s].verdict];
		if (add_segments(a, t, s, &count, &capacity) < 0)
			return -ENOMEM;
	}
	a->first[a->state_count] = (uint32_t)count;
	for (unsigned int i = 0; i < CORDON_START_COUNT; i++)
		a->start[i] = t->header->start[i] & CORDON_STATE_MASK;
	*ret_automaton = TAKE_PTR(a);
	return 0;
}

static int unpack_small(const struct compiled_policy *policy, bool rules, uint32_t rights,
			struct automaton **ret_automaton)
{
	_cleanup_(automaton_freep) struct automaton *large = NULL;
	struct tables t = open_tables(policy->tables);
	int r = unpack(&t, rules, rights, &large);

	return r < 0 ? r : automaton_minimise(large, ret_automaton);
}

int automaton_of_rights(const struct compiled_policy *policy, uint32_t rights,
			struct automaton **ret_automaton)
{
	return unpack_small(policy, false, rights, ret_automaton);
}

int automaton_of_rules(const struct compiled_policy *policy, uint32_t rights,
		       struct automaton **ret_automaton)
{
	return unpack_small(policy, true, rights, ret_automaton);
}
