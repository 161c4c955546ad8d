/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rules that still decide at least one access once the runs over a name are combined. */
#include "policy/automaton/effect.h"

#include "policy/automaton/finals.h"
#include "policy/core/vector.h"

/*
 * Rules share few prefixes, so two runs reach few pairs of states. With more pairs than this, the
 * search costs more than it is worth.
 */
#define PAIRS_PER_STATE 4u

/* The states that were visited while the other run denies `deny` for every continuation. */
struct remainder {
	uint32_t deny;
	bool *seen; /* per state */
};

#define REMAINDERS_MAX 8

struct effect {
	const struct automaton *a;
	size_t rule_count;
	bool exceptions; /* some state excepts a name */
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

/* Denied, and no exception takes it back. */
static uint32_t final_denies(const struct effect *e, const struct cordon_verdict *v)
{
	return e->exceptions ? v->deny >> CORDON_EXCEPT_SHIFT : v->deny;
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
		if (denied_x != denied_y && !(final_denies(e, first ? x : y) & CORDON_RIGHT(right)))
			note(e, loser);
		else if (loser < e->rule_count)
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

/* Notes a state of one run while the other run's verdict is constant for every continuation. */
static void note_beside(struct effect *e, uint32_t state, const void *context)
{
	const struct cordon_verdict *fixed = context, *v = &e->a->verdicts[e->a->verdict[state]];

	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++) {
		if (!(final_denies(e, fixed) & CORDON_RIGHT(right)))
			note(e, v->rule[right]);
		else if (v->rule[right] < e->rule_count)
			e->decided_by[v->rule[right]] = fixed->rule[right];
	}
}

/*
 * One run has reached a constant verdict, and the other one continues. Pairs would visit all of its
 * states again for each constant verdict. So constant verdicts are only distinguished by their
 * denied rights.
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
		i = 0; /* the first remainder denies nothing */
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

/* 1: continue from this pair of states, 0: do not; -ENOMEM. */
static int visit(struct effect *e, const uint32_t states[2])
{
	const struct automaton *a = e->a;
	int r = 1;

	note_pair(e, &a->verdicts[a->verdict[states[0]]], &a->verdicts[a->verdict[states[1]]]);
	for (size_t i = 0; i < 2 && r > 0; i++) {
		const struct cordon_verdict *fixed = &a->verdicts[a->verdict[states[i]]];

		if (states[i] == 0 || !automaton_is_absorbing(a, states[i]))
			continue;
		for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++)
			note(e, fixed->rule[right]);
		r = note_remainder(e, fixed, states[1 - i]);
	}
	return r;
}

/* ---- the states that both runs reach together ---- */

/*
 * Most states of one run meet a single state of the other run. The hash table holds only the
 * further pairs.
 */
struct pairs {
	uint32_t *partner; /* per state: 1 + the first state that it was met with, 0: none */
	uint64_t *slots;   /* hash table: 1 + pair, 0: free */
	size_t slot_count, used;
	size_t count, limit; /* of all pairs */
	uint64_t *stack;
	size_t depth, capacity;
};

static void pairs_release(struct pairs *p)
{
	free(p->partner);
	free(p->slots);
	free(p->stack);
}

static size_t pair_slot(const struct pairs *p, uint64_t pair)
{
	uint64_t h = pair * 0x9e3779b97f4a7c15ull;
	size_t slot = (h ^ h >> 32) & (p->slot_count - 1);

	while (p->slots[slot] && p->slots[slot] != pair + 1)
		slot = (slot + 1) & (p->slot_count - 1);
	return slot;
}

static int grow_slots(struct pairs *p)
{
	struct pairs larger = {.slot_count = p->slot_count ? p->slot_count * 4 : 1024};

	if (p->used * 2 < p->slot_count)
		return 0;
	larger.slots = calloc(larger.slot_count, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < p->slot_count; i++)
		if (p->slots[i])
			larger.slots[pair_slot(&larger, p->slots[i] - 1)] = p->slots[i];
	free(p->slots);
	p->slots = larger.slots;
	p->slot_count = larger.slot_count;
	return 0;
}

static int push(struct pairs *p, uint64_t pair)
{
	if (p->count == p->limit)
		return -E2BIG;
	if (vector_reserve(&p->stack, &p->capacity, p->depth + 1) < 0)
		return -ENOMEM;
	p->count++;
	p->stack[p->depth++] = pair;
	return 0;
}

static int meet(struct pairs *p, uint32_t x, uint32_t y)
{
	uint64_t pair = (uint64_t)x << 32 | y;
	size_t slot;

	if (p->partner[x] == y + 1)
		return 0;
	if (!p->partner[x]) {
		p->partner[x] = y + 1;
		return push(p, pair);
	}
	if (grow_slots(p) < 0)
		return -ENOMEM;
	slot = pair_slot(p, pair);
	if (p->slots[slot])
		return 0;
	p->slots[slot] = pair + 1;
	p->used++;
	return push(p, pair);
}

/* Visits the successors of a pair, one byte range at a time. */
static int meet_behind(struct pairs *p, const struct automaton *a, const uint32_t states[2])
{
	const struct segment *x = &a->segments[a->first[states[0]]];
	const struct segment *y = &a->segments[a->first[states[1]]];
	int r = 0;

	while (r == 0) {
		r = meet(p, x->target, y->target);
		if (x->last == UINT8_MAX && y->last == UINT8_MAX)
			break;
		if (x->last == y->last) {
			x++;
			y++;
		} else if (x->last < y->last) {
			x++;
		} else {
			y++;
		}
	}
	return r;
}

/* -E2BIG: too many pairs. */
static int visit_pairs(struct effect *e, uint32_t x, uint32_t y)
{
	_cleanup_(pairs_release) struct pairs p = {.limit = (size_t)PAIRS_PER_STATE *
							    e->a->state_count};
	int r;

	p.partner = calloc(e->a->state_count, sizeof(*p.partner));
	if (!p.partner)
		return -ENOMEM;
	r = meet(&p, x, y);
	while (r == 0 && p.depth) {
		uint64_t pair = p.stack[--p.depth];
		const uint32_t states[] = {(uint32_t)(pair >> 32), (uint32_t)pair};

		r = visit(e, states);
		if (r > 0)
			r = meet_behind(&p, e->a, states);
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

/* Notes the rules that decide in runs that are not combined. */
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
	uint32_t path = a->start[CORDON_START_PATH], floating = a->start[CORDON_START_FLOATING];
	_cleanup_(effect_release) struct effect e = {.a = a, .rule_count = rule_count};
	int r;

	/* A single run was already analysed during the construction. */
	if (path == 0 || floating == 0)
		return 0;
	for (uint32_t i = 0; i < a->verdict_count; i++)
		e.exceptions |= a->verdicts[i].except;
	e.decides = calloc(rule_count + 1, sizeof(*e.decides));
	e.decided_by = malloc((rule_count + 1) * sizeof(*e.decided_by));
	e.stack = calloc(a->state_count, sizeof(*e.stack));
	if (!e.decides || !e.decided_by || !e.stack)
		return -ENOMEM;
	for (size_t i = 0; i < rule_count; i++)
		e.decided_by[i] = CORDON_NO_RULE;
	r = note_other_runs(&e);
	/* Creates the remainder that denies nothing, see note_remainder(). */
	if (r == 0)
		r = note_remainder(&e, &nothing, 0);
	if (r == 0)
		r = visit_pairs(&e, path, floating);
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
