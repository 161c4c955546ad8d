/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a policy's deterministic automaton by subset construction, then minimises it. */
#include "policy/automaton/automaton.h"

#include <string.h>

#include "policy/automaton/settle.h"
#include "policy/core/slots.h"
#include "policy/core/vector.h"

struct subset {
	size_t offset; /* into the pool */
	uint32_t count;
	uint32_t hash;
};

struct builder {
	const struct nfa *nfa;
	struct settling settling;
	struct rule_use *use;
	size_t rule_count;
	struct automaton *automaton;
	/* subsets: one per state, members ascending */
	struct subset *subsets;
	size_t subset_count, subset_capacity;
	uint32_t *pool;
	size_t pool_count, pool_capacity;
	struct slots slots; /* of the subsets */
	/* arrays of the automaton, still growing */
	size_t first_capacity, segment_count, segment_capacity;
	size_t verdict_capacity, table_capacity;
	struct slots table_slots; /* of the verdicts */
	/* the subset being gathered */
	uint32_t *members;
	size_t member_count, member_capacity;
	uint32_t *stamps; /* per node: the number of the last subset that contains it */
	uint32_t stamp;
	uint32_t *stack;
	size_t stack_capacity;
	uint64_t steps; /* see struct automaton_effort */
	/* the edges that leave the current state, by first byte */
	struct nfa_edge *wide;
	size_t wide_count, wide_capacity;
	struct nfa_edge *narrow;
	size_t narrow_count, narrow_capacity;
};

void automaton_free(struct automaton *a)
{
	free(a->first);
	free(a->segments);
	free(a->verdict);
	free(a->verdicts);
	free(a);
}

static void builder_release(struct builder *b)
{
	if (b->automaton)
		automaton_free(b->automaton);
	settling_release(&b->settling);
	free(b->subsets);
	free(b->pool);
	free(b->slots.at);
	free(b->table_slots.at);
	free(b->members);
	free(b->stamps);
	free(b->stack);
	free(b->wide);
	free(b->narrow);
}

/* ---- subsets ---- */

static void begin_subset(struct builder *b)
{
	b->member_count = 0;
	b->stamp++;
}

/*
 * Adds a node and all nodes that it reaches without a byte. Nodes that only have such skips are
 * left out.
 */
static int add_member(struct builder *b, uint32_t node)
{
	size_t depth = 0;

	if (b->stamps[node] == b->stamp)
		return 0;
	b->stamps[node] = b->stamp;
	for (;;) {
		const struct nfa_node *n = &b->nfa->nodes[node];

		if (n->edges || n->accepts) {
			if (vector_reserve(&b->members, &b->member_capacity, b->member_count + 1) <
			    0)
				return -ENOMEM;
			b->members[b->member_count++] = node;
		}
		for (uint32_t i = n->skips; i; i = b->nfa->skips[i].next) {
			uint32_t target = b->nfa->skips[i].target;

			if (b->stamps[target] == b->stamp)
				continue;
			if (vector_reserve(&b->stack, &b->stack_capacity, depth + 1) < 0)
				return -ENOMEM;
			b->stamps[target] = b->stamp;
			b->stack[depth++] = target;
		}
		if (depth == 0)
			return 0;
		node = b->stack[--depth];
	}
}

/* ---- states ---- */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort_members(struct builder *b)
{
	if (b->member_count > 16) {
		qsort(b->members, b->member_count, sizeof(*b->members), compare_numbers);
		return;
	}
	for (size_t i = 1; i < b->member_count; i++) {
		uint32_t m = b->members[i];
		size_t j = i;

		for (; j > 0 && b->members[j - 1] > m; j--)
			b->members[j] = b->members[j - 1];
		b->members[j] = m;
	}
}

static uint32_t hash_of_subset(const void *owner, uint32_t state)
{
	return ((const struct builder *)owner)->subsets[state].hash;
}

/* Finds the state of the gathered members, or makes a new one. */
static int find_state(struct builder *b, uint32_t *ret_state)
{
	uint32_t hash;
	size_t slot;

	/* Most bytes lead to the dead state. */
	if (b->member_count == 0 && b->subset_count > 0) {
		*ret_state = 0;
		return 0;
	}
	settling_drop(&b->settling, b->members, &b->member_count);
	sort_members(b);
	hash = slots_hash(b->members, b->member_count * sizeof(*b->members));
	if (slots_reserve(&b->slots, b->subset_count, hash_of_subset, b) < 0)
		return -ENOMEM;
	for (slot = slots_first(&b->slots, hash); b->slots.at[slot];
	     slot = slots_next(&b->slots, slot)) {
		const struct subset *s = &b->subsets[b->slots.at[slot] - 1];

		/* The empty subset has no members to compare, and its pointer may be invalid. */
		if (s->hash == hash && s->count == b->member_count &&
		    (s->count == 0 || memcmp(b->pool + s->offset, b->members,
					     s->count * sizeof(*b->members)) == 0)) {
			*ret_state = b->slots.at[slot] - 1;
			return 0;
		}
	}
	if (b->subset_count >= AUTOMATON_STATES_MAX ||
	    b->pool_count + b->member_count > AUTOMATON_MEMBERS_MAX)
		return -E2BIG;
	if (vector_reserve(&b->subsets, &b->subset_capacity, b->subset_count + 1) < 0 ||
	    vector_reserve(&b->pool, &b->pool_capacity, b->pool_count + b->member_count) < 0)
		return -ENOMEM;
	if (b->member_count)
		memcpy(b->pool + b->pool_count, b->members, b->member_count * sizeof(*b->members));
	b->subsets[b->subset_count] =
		(struct subset){b->pool_count, (uint32_t)b->member_count, hash};
	b->pool_count += b->member_count;
	b->slots.at[slot] = (uint32_t)b->subset_count + 1;
	*ret_state = (uint32_t)b->subset_count++;
	return 0;
}

/* ---- verdicts ---- */

static uint32_t hash_of_verdict(const void *owner, uint32_t index)
{
	const struct automaton *a = ((const struct builder *)owner)->automaton;

	return slots_hash(&a->verdicts[index], sizeof(*a->verdicts));
}

static int intern_verdict(struct builder *b, const struct cordon_verdict *v, uint32_t *ret_index)
{
	struct automaton *a = b->automaton;
	size_t slot;

	if (slots_reserve(&b->table_slots, a->verdict_count, hash_of_verdict, b) < 0 ||
	    vector_reserve(&a->verdicts, &b->table_capacity, a->verdict_count + 1) < 0)
		return -ENOMEM;
	for (slot = slots_first(&b->table_slots, slots_hash(v, sizeof(*v)));
	     b->table_slots.at[slot]; slot = slots_next(&b->table_slots, slot)) {
		uint32_t index = b->table_slots.at[slot] - 1;

		if (memcmp(&a->verdicts[index], v, sizeof(*v)) == 0) {
			*ret_index = index;
			return 0;
		}
	}
	a->verdicts[a->verdict_count] = *v;
	b->table_slots.at[slot] = a->verdict_count + 1;
	*ret_index = a->verdict_count++;
	return 0;
}

/*
 * Deny overrides allow, and a deny without exceptions overrides one with exceptions. Among rules of
 * one kind the first decides.
 */
static void apply_accept(struct cordon_verdict *v, const struct nfa_accept *accept)
{
	uint32_t final = accept->rights >> CORDON_EXCEPT_SHIFT;

	if (!accept->deny && final)
		v->except = (uint16_t)(accept->rule + 1);
	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++) {
		uint32_t bit = CORDON_RIGHT(right);
		unsigned int rank = !accept->deny ? 0 : final & bit ? 2 : 1;
		unsigned int before = !(v->deny & bit)			     ? 0
				      : v->deny >> CORDON_EXCEPT_SHIFT & bit ? 2
									     : 1;

		if (!(accept->rights & bit) || rank < before)
			continue;
		if (rank > before || accept->rule < v->rule[right])
			v->rule[right] = (uint16_t)accept->rule;
		if (accept->deny)
			v->deny |= bit | (rank == 2 ? bit << CORDON_EXCEPT_SHIFT : 0);
	}
	if (!accept->deny)
		v->allow |= accept->rights;
}

static void note_use(struct builder *b, const struct cordon_verdict *v,
		     const struct nfa_accept *accept)
{
	struct rule_use *use;

	if (accept->rule >= b->rule_count)
		return;
	use = &b->use[accept->rule];
	/* Whether a deny is taken back may be another run's affair. */
	if (b->nfa->exceptions && !accept->deny &&
	    accept->rights & ~(v->deny >> CORDON_EXCEPT_SHIFT))
		use->decides = true;
	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT && !use->decides; right++) {
		if (!(accept->rights & CORDON_RIGHT(right)))
			continue;
		if (v->rule[right] == accept->rule)
			use->decides = true;
		else
			use->decided_by = v->rule[right];
	}
}

static int add_verdict(struct builder *b, const struct subset *s)
{
	struct cordon_verdict v = {0};
	struct automaton *a = b->automaton;
	const uint32_t *members = b->pool + s->offset;

	memset(v.rule, 0xff, sizeof(v.rule));
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < s->count; i++)
			for (uint32_t e = b->nfa->nodes[members[i]].accepts; e;
			     e = b->nfa->accepts[e].next) {
				if (pass == 0)
					apply_accept(&v, &b->nfa->accepts[e]);
				else
					note_use(b, &v, &b->nfa->accepts[e]);
			}
	if (vector_reserve(&a->verdict, &b->verdict_capacity, a->state_count + 1) < 0)
		return -ENOMEM;
	return intern_verdict(b, &v, &a->verdict[a->state_count]);
}

/* ---- transitions ---- */

/*
 * Gathers the edges of a state's members, and the bytes at which the set of applicable edges
 * changes.
 */
static int gather_edges(struct builder *b, const struct subset *s, uint64_t begins[4])
{
	const uint32_t *members = b->pool + s->offset;

	b->wide_count = b->narrow_count = 0;
	memset(begins, 0, 4 * sizeof(*begins));
	begins[0] = 1;
	for (uint32_t i = 0; i < s->count; i++) {
		for (uint32_t e = b->nfa->nodes[members[i]].edges; e; e = b->nfa->edges[e].next) {
			const struct nfa_edge *edge = &b->nfa->edges[e];
			unsigned int behind = edge->high + 1u;

			if (vector_reserve(&b->wide, &b->wide_capacity, b->wide_count + 1) < 0 ||
			    vector_reserve(&b->narrow, &b->narrow_capacity, b->narrow_count + 1) <
				    0)
				return -ENOMEM;
			if (edge->low == edge->high)
				b->narrow[b->narrow_count++] = *edge;
			else
				b->wide[b->wide_count++] = *edge;
			begins[edge->low / 64] |= 1ull << edge->low % 64;
			if (behind < 256)
				begins[behind / 64] |= 1ull << behind % 64;
		}
	}
	return 0;
}

static int compare_edges(const void *a, const void *b)
{
	return (int)((const struct nfa_edge *)a)->low - (int)((const struct nfa_edge *)b)->low;
}

static int add_segment(struct builder *b, uint8_t last, uint32_t target)
{
	struct automaton *a = b->automaton;
	size_t own = a->first[a->state_count];

	if (b->segment_count > own && a->segments[b->segment_count - 1].target == target) {
		a->segments[b->segment_count - 1].last = last;
		return 0;
	}
	if (b->segment_count >= AUTOMATON_SEGMENTS_MAX)
		return -E2BIG;
	if (vector_reserve(&a->segments, &b->segment_capacity, b->segment_count + 1) < 0)
		return -ENOMEM;
	a->segments[b->segment_count++] = (struct segment){target, last};
	return 0;
}

static unsigned int next_begin(const uint64_t begins[4], unsigned int byte)
{
	for (byte++; byte < 256; byte = (byte | 63) + 1) {
		uint64_t rest = begins[byte / 64] >> byte % 64;

		if (rest)
			return byte + (unsigned int)__builtin_ctzll(rest);
	}
	return 256;
}

static int add_transitions(struct builder *b, const struct subset *s)
{
	uint64_t begins[4];
	size_t narrow = 0;
	int r = gather_edges(b, s, begins);

	if (r < 0)
		return r;
	if (b->narrow_count > 1)
		qsort(b->narrow, b->narrow_count, sizeof(*b->narrow), compare_edges);
	for (unsigned int byte = 0, next; byte < 256; byte = next) {
		uint32_t target;

		next = next_begin(begins, byte);
		b->steps += b->wide_count + 1;
		if (b->steps > AUTOMATON_STEPS_MAX)
			return -E2BIG;
		begin_subset(b);
		for (size_t i = 0; i < b->wide_count && r == 0; i++)
			if (b->wide[i].low <= byte && byte <= b->wide[i].high)
				r = add_member(b, b->wide[i].target);
		for (; narrow < b->narrow_count && b->narrow[narrow].low == byte && r == 0;
		     narrow++)
			r = add_member(b, b->narrow[narrow].target);
		if (r == 0)
			r = find_state(b, &target);
		if (r == 0)
			r = add_segment(b, (uint8_t)(next - 1), target);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- construction ---- */

static int add_starts(struct builder *b)
{
	uint32_t dead;
	int r;

	begin_subset(b);
	r = find_state(b, &dead);
	for (unsigned int i = 0; r == 0 && i < CORDON_START_COUNT; i++) {
		begin_subset(b);
		if (b->nfa->starts[i])
			r = add_member(b, b->nfa->starts[i]);
		if (r == 0)
			r = find_state(b, &b->automaton->start[i]);
	}
	return r;
}

static int build(struct builder *b)
{
	struct automaton *a = b->automaton;
	struct cordon_verdict nothing = {0};
	uint32_t index;
	int r;

	memset(nothing.rule, 0xff, sizeof(nothing.rule));
	r = intern_verdict(b, &nothing, &index);
	if (r == 0)
		r = add_starts(b);
	/* The loop itself appends states to the subsets. */
	for (; r == 0 && a->state_count < b->subset_count; a->state_count++) {
		struct subset s = b->subsets[a->state_count];

		if (vector_reserve(&a->first, &b->first_capacity, a->state_count + 2u) < 0)
			return -ENOMEM;
		a->first[a->state_count] = (uint32_t)b->segment_count;
		r = add_verdict(b, &s);
		if (r == 0)
			r = add_transitions(b, &s);
		if (r == 0)
			a->first[a->state_count + 1] = (uint32_t)b->segment_count;
	}
	return r;
}

/*
 * Some rules were dropped before they matched any name. The first rule that settled a node on the
 * way to such names is reported as deciding in their place.
 */
static void explain_idle_rules(struct builder *b)
{
	const struct nfa *n = b->nfa;

	for (uint32_t node = 1; node < n->node_count; node++)
		for (uint32_t e = n->nodes[node].accepts; e; e = n->accepts[e].next) {
			uint32_t rule = n->accepts[e].rule, at = node;

			if (rule >= b->rule_count || b->use[rule].decides ||
			    b->use[rule].decided_by != UNSETTLED)
				continue;
			while (at && b->settling.settled_by[at] == UNSETTLED)
				at = n->nodes[at].parent;
			b->use[rule].decided_by = b->settling.settled_by[at];
		}
}

/* Counts the members that each rule added to the last subsets, after there were too many. */
static void weigh_rules(struct builder *b)
{
	size_t from = b->subset_count > 4096 ? b->subset_count - 4096 : 0;

	for (size_t i = from; i < b->subset_count; i++)
		for (uint32_t j = 0; j < b->subsets[i].count; j++) {
			uint32_t owner = b->nfa->nodes[b->pool[b->subsets[i].offset + j]].owner;

			if (owner < b->rule_count)
				b->use[owner].weight++;
		}
}

int automaton_build(const struct nfa *n, struct rule_use *use, size_t rule_count,
		    struct automaton_effort *ret_effort, struct automaton **ret_automaton)
{
	_cleanup_(builder_release) struct builder b = {
		.nfa = n, .use = use, .rule_count = rule_count};
	int r;

	for (size_t i = 0; i < rule_count; i++)
		use[i].decided_by = UNSETTLED;
	b.automaton = calloc(1, sizeof(*b.automaton));
	b.stamps = calloc(n->node_count, sizeof(*b.stamps));
	if (!b.automaton || !b.stamps)
		return -ENOMEM;
	r = settling_init(&b.settling, n);
	if (r == 0)
		r = build(&b);
	*ret_effort = (struct automaton_effort){
		.states = b.subset_count, .members = b.pool_count, .steps = b.steps};
	if (r == -E2BIG)
		weigh_rules(&b);
	if (r < 0)
		return r;
	explain_idle_rules(&b);
	*ret_automaton = TAKE_PTR(b.automaton);
	return 0;
}
