/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/compile/unpack.h"

#include <string.h>

#include "policy/core/vector.h"

struct tables {
	const struct cordon_policy_header *header;
	const struct cordon_state *states;
	const struct cordon_edge *edges;
	const struct cordon_final *finals;
	const struct cordon_verdict *verdicts;
};

static struct tables open_tables(const unsigned char *tables)
{
	const struct cordon_policy_header *h = (const void *)tables;

	return (struct tables){
		.header = h,
		.states = (const void *)(tables + h->states_offset),
		.edges = (const void *)(tables + h->edges_offset),
		.finals = (const void *)(tables + h->finals_offset),
		.verdicts = (const void *)(tables + h->verdicts_offset),
	};
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

/* Different masks are few, whatever the number of rules. */
static uint32_t find_masks(struct automaton *a, const struct cordon_verdict *v)
{
	struct cordon_verdict stripped = {.allow = v->allow & ~v->deny, .deny = v->deny};

	memset(stripped.rule, 0xff, sizeof(stripped.rule));
	for (uint32_t i = 0; i < a->verdict_count; i++)
		if (memcmp(&a->verdicts[i], &stripped, sizeof(stripped)) == 0)
			return i;
	a->verdicts[a->verdict_count] = stripped;
	return a->verdict_count++;
}

static int unpack(const struct tables *t, bool rules, struct automaton **ret_automaton)
{
	_cleanup_(automaton_freep) struct automaton *a = calloc(1, sizeof(*a));
	_cleanup_(freep) uint32_t *masks = calloc(t->header->verdicts_count, sizeof(*masks));
	static const struct cordon_verdict nothing = {0};
	size_t count = 0, capacity = 0;

	if (!a || !masks)
		return -ENOMEM;
	a->state_count = t->header->states_count;
	a->first = calloc(a->state_count + 1u, sizeof(*a->first));
	a->verdict = calloc(a->state_count, sizeof(*a->verdict));
	a->verdicts = calloc(t->header->verdicts_count + 1u, sizeof(*a->verdicts));
	if (!a->first || !a->verdict || !a->verdicts)
		return -ENOMEM;
	/* Number 0 says nothing. */
	find_masks(a, &nothing);
	for (uint32_t i = 0; i < t->header->verdicts_count; i++) {
		masks[i] = rules ? a->verdict_count : find_masks(a, &t->verdicts[i]);
		if (rules)
			a->verdicts[a->verdict_count++] = t->verdicts[i];
	}
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

int automaton_of_rights(const struct compiled_policy *policy, struct automaton **ret_automaton)
{
	_cleanup_(automaton_freep) struct automaton *large = NULL;
	struct tables t = open_tables(policy->tables);
	int r = unpack(&t, false, &large);

	return r < 0 ? r : automaton_minimise(large, ret_automaton);
}

int automaton_of_rules(const struct compiled_policy *policy, struct automaton **ret_automaton)
{
	struct tables t = open_tables(policy->tables);

	return unpack(&t, true, ret_automaton);
}
