/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/effect.h"

#include "policy/finals.h"
#include "policy/product.h"

/* Names at which two states meet are few: rules share few beginnings. Beyond this it is not worth it. */
#define TUPLES_PER_STATE 4u

/* The states behind which a run was looked at while the other one denies `deny` for good. */
struct remainder {
	uint32_t deny;
	bool *seen; /* per state */
};

#define REMAINDERS_MAX 8

struct effect {
	const struct automaton *a;
	size_t rule_count;
	bool *decides;
	uint32_t *decided_by;
	uint32_t *stack;
	struct remainder remainders[REMAINDERS_MAX];
	size_t remainder_count;
};

static void effect_release(struct effect *e)
{
	free(e->decides);
	free(e->decided_by);
	free(e->stack);
	for (size_t i = 0; i < e->remainder_count; i++)
		free(e->remainders[i].seen);
}

static void note(struct effect *e, uint32_t rule)
{
	if (rule < e->rule_count)
		e->decides[rule] = true;
}

static void note_pair(struct effect *e, const struct cordon_verdict *x,
		      const struct cordon_verdict *y)
{
	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++) {
		bool denied_x = x->deny & CORDON_RIGHT(right),
		     denied_y = y->deny & CORDON_RIGHT(right);
		uint16_t rule_x = x->rule[right], rule_y = y->rule[right];
		bool first = denied_x != denied_y ? denied_x : rule_x <= rule_y;
		uint16_t winner = first ? rule_x : rule_y, loser = first ? rule_y : rule_x;

		note(e, winner);
		if (loser < e->rule_count)
			e->decided_by[loser] = winner;
	}
}

/* Depth first over the states that `from` leads to. */
static void mark_reached(struct effect *e, uint32_t from, bool *seen,
			 void (*note_state)(struct effect *e, uint32_t state, const void *context),
			 const void *context)
{
	size_t depth = 0;

	if (seen[from])
		return;
	seen[from] = true;
	e->stack[depth++] = from;
	while (depth) {
		uint32_t s = e->stack[--depth];

		note_state(e, s, context);
		for (uint32_t i = e->a->first[s]; i < e->a->first[s + 1]; i++) {
			uint32_t target = e->a->segments[i].target;

			if (seen[target])
				continue;
			seen[target] = true;
			e->stack[depth++] = target;
		}
	}
}

/* A state of one run while the other one says the same whatever follows. */
static void note_beside(struct effect *e, uint32_t state, const void *context)
{
	const struct cordon_verdict *fixed = context, *v = &e->a->verdicts[e->a->verdict[state]];

	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++) {
		if (!(fixed->deny & CORDON_RIGHT(right)))
			note(e, v->rule[right]);
		else if (v->rule[right] < e->rule_count)
			e->decided_by[v->rule[right]] = fixed->rule[right];
	}
}

/*
 * One run has come to rest, the other goes on: not by tuples, since at each place of rest it would
 * go through all its states again. Of the verdict at rest only what it denies is told apart.
 */
static int note_remainder(struct effect *e, const struct cordon_verdict *fixed, uint32_t state)
{
	static const struct cordon_verdict nothing = {0};
	struct remainder *r = e->remainders;
	size_t i = 0;

	while (i < e->remainder_count && r[i].deny != fixed->deny)
		i++;
	if (i == REMAINDERS_MAX) {
		fixed = &nothing;
		i = 0; /* the first one denies nothing */
	}
	if (i == e->remainder_count) {
		r[i].seen = calloc(e->a->state_count, sizeof(*r[i].seen));
		if (!r[i].seen)
			return -ENOMEM;
		r[i].deny = fixed->deny;
		e->remainder_count++;
	}
	mark_reached(e, state, r[i].seen, note_beside, fixed);
	return 0;
}

static int visit(void *context, struct product *p, uint32_t node)
{
	struct effect *e = context;
	const uint32_t *states = product_states(p, node);
	const struct automaton *a = e->a;
	int r = PRODUCT_EXPAND;

	note_pair(e, &a->verdicts[a->verdict[states[0]]], &a->verdicts[a->verdict[states[1]]]);
	for (size_t i = 0; i < 2 && r == PRODUCT_EXPAND; i++) {
		const struct cordon_verdict *fixed = &a->verdicts[a->verdict[states[i]]];

		if (states[i] == 0 || !automaton_is_absorbing(a, states[i]))
			continue;
		for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++)
			note(e, fixed->rule[right]);
		r = note_remainder(e, fixed, states[1 - i]);
		r = r < 0 ? r : PRODUCT_PRUNE;
	}
	return r;
}

static void note_alone(struct effect *e, uint32_t state, const void *context)
{
	const struct cordon_verdict *v = &e->a->verdicts[e->a->verdict[state]];

	(void)context;
	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++)
		note(e, v->rule[right]);
}

/* Rules that decide in the runs that are not combined. */
static int note_other_runs(struct effect *e)
{
	_cleanup_(freep) bool *seen = calloc(e->a->state_count, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	for (unsigned int i = 0; i < CORDON_START_COUNT; i++)
		if (i != CORDON_START_PATH && i != CORDON_START_FLOATING)
			mark_reached(e, e->a->start[i], seen, note_alone, NULL);
	return 0;
}

int effect_of_combination(const struct automaton *a, struct rule_use *use, size_t rule_count)
{
	static const struct cordon_verdict nothing = {0};
	const struct automaton *const axes[] = {a, a};
	const uint32_t start[] = {a->start[CORDON_START_PATH], a->start[CORDON_START_FLOATING]};
	_cleanup_(effect_release) struct effect e = {.a = a, .rule_count = rule_count};
	_cleanup_(product_freep) struct product *p = NULL;
	int r;

	/* Apart, each run has been looked at already. */
	if (start[0] == 0 || start[1] == 0)
		return 0;
	e.decides = calloc(rule_count + 1, sizeof(*e.decides));
	e.decided_by = malloc((rule_count + 1) * sizeof(*e.decided_by));
	e.stack = calloc(a->state_count, sizeof(*e.stack));
	if (!e.decides || !e.decided_by || !e.stack)
		return -ENOMEM;
	for (size_t i = 0; i < rule_count; i++)
		e.decided_by[i] = CORDON_NO_RULE;
	r = note_other_runs(&e);
	/* Makes the remainder beside nothing, see note_remainder(). */
	if (r == 0)
		r = note_remainder(&e, &nothing, 0);
	if (r == 0)
		r = product_explore(axes, start, ARRAY_SIZE(start),
				    (size_t)TUPLES_PER_STATE * a->state_count, visit, &e, &p);
	if (r < 0)
		return r == -E2BIG ? 0 : r;
	for (size_t i = 0; i < rule_count; i++) {
		if (!use[i].decides || e.decides[i] || e.decided_by[i] == CORDON_NO_RULE)
			continue;
		use[i].decides = false;
		use[i].decided_by = e.decided_by[i];
	}
	return 0;
}
