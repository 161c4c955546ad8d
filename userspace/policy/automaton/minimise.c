/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Minimisation by partition refinement. States start in one class per verdict. A class is split if
 * its members lead to different classes; the largest part keeps the class's number. Only states
 * that lead to a part with a new number are visited again.
 *
 * So each state is visited O(log n) times per edge (the idea of Hopcroft 1971, in the form of
 * Valmari and Franceschinis 2010). Transitions remain byte segments throughout.
 */
#include <string.h>

#include "policy/automaton/automaton.h"
#include "policy/core/vector.h"

#define NONE 0xffffffffu

struct class
{
	uint32_t begin, size; /* in `order` */
	uint32_t dirty;	      /* members to visit again: the first ones in `order` */
	bool queued;
};

struct keyed {
	uint64_t hash;
	uint32_t state;
};

struct refinement {
	const struct automaton *a;
	uint32_t *class_of; /* per state */
	uint32_t *order;    /* states, class by class */
	uint32_t *position; /* per state: its index in `order` */
	struct class *classes;
	uint32_t class_count;
	uint32_t *queue; /* a stack of classes with dirty members */
	uint32_t queue_count;
	uint32_t *before_first, *before; /* per state: the states that lead to it */
	struct keyed *keyed;
	uint32_t *moved; /* states that moved to a new class */
	uint32_t moved_count;
};

static void refinement_release(struct refinement *r)
{
	free(r->class_of);
	free(r->order);
	free(r->position);
	free(r->classes);
	free(r->queue);
	free(r->before_first);
	free(r->before);
	free(r->keyed);
	free(r->moved);
}

static int allocate(struct refinement *r)
{
	size_t n = r->a->state_count;

	r->class_of = calloc(n, sizeof(*r->class_of));
	r->order = calloc(n, sizeof(*r->order));
	r->position = calloc(n, sizeof(*r->position));
	r->classes = calloc(n + r->a->verdict_count, sizeof(*r->classes));
	r->queue = calloc(n + r->a->verdict_count, sizeof(*r->queue));
	r->before_first = calloc(n + 1, sizeof(*r->before_first));
	r->before = calloc(r->a->first[n], sizeof(*r->before));
	r->keyed = calloc(n, sizeof(*r->keyed));
	r->moved = calloc(n, sizeof(*r->moved));
	return r->class_of && r->order && r->position && r->classes && r->queue &&
			       r->before_first && r->before && r->keyed && r->moved
		       ? 0
		       : -ENOMEM;
}

static void index_predecessors(struct refinement *r)
{
	const struct automaton *a = r->a;

	for (uint32_t i = 0; i < a->first[a->state_count]; i++)
		r->before_first[a->segments[i].target + 1]++;
	for (uint32_t s = 0; s < a->state_count; s++)
		r->before_first[s + 1] += r->before_first[s];
	/* Each part is filled from its end, so its start index is correct afterwards. */
	for (uint32_t s = a->state_count; s-- > 0;)
		for (uint32_t i = a->first[s]; i < a->first[s + 1]; i++)
			r->before[--r->before_first[a->segments[i].target + 1]] = s;
	/* Each start is now one index too high: shift back. */
	memmove(r->before_first, r->before_first + 1, a->state_count * sizeof(*r->before_first));
	r->before_first[a->state_count] = a->first[a->state_count];
}

static void enqueue(struct refinement *r, uint32_t class)
{
	if (r->classes[class].queued)
		return;
	r->classes[class].queued = true;
	r->queue[r->queue_count++] = class;
}

static void partition_by_verdict(struct refinement *r)
{
	const struct automaton *a = r->a;
	uint32_t place = 0;

	r->class_count = a->verdict_count;
	for (uint32_t s = 0; s < a->state_count; s++)
		r->classes[a->verdict[s]].size++;
	for (uint32_t c = 0; c < r->class_count; c++) {
		r->classes[c].begin = place;
		place += r->classes[c].size;
		r->classes[c].dirty = 0;
	}
	for (uint32_t s = 0; s < a->state_count; s++) {
		struct class *c = &r->classes[a->verdict[s]];

		r->class_of[s] = a->verdict[s];
		r->position[s] = c->begin + c->dirty++;
		r->order[r->position[s]] = s;
	}
	for (uint32_t c = 0; c < r->class_count; c++)
		if (r->classes[c].size > 1)
			enqueue(r, c);
}

static void mark_dirty(struct refinement *r, uint32_t state)
{
	uint32_t number = r->class_of[state], place, other;
	struct class *c = &r->classes[number];

	place = c->begin + c->dirty;
	if (c->size == 1 || r->position[state] < place)
		return;
	other = r->order[place];
	r->order[r->position[state]] = other;
	r->position[other] = r->position[state];
	r->order[place] = state;
	r->position[state] = place;
	c->dirty++;
	enqueue(r, number);
}

/* Iterates over a state's segments; adjacent segments that lead to one class are joined. */
struct walk {
	const struct refinement *r;
	uint32_t next, end;
};

static bool walk_step(struct walk *w, uint8_t *ret_last, uint32_t *ret_class)
{
	const struct segment *segments = w->r->a->segments;

	if (w->next == w->end)
		return false;
	*ret_class = w->r->class_of[segments[w->next].target];
	do {
		*ret_last = segments[w->next++].last;
	} while (w->next < w->end && w->r->class_of[segments[w->next].target] == *ret_class);
	return true;
}

static struct walk walk_start(const struct refinement *r, uint32_t state)
{
	return (struct walk){r, r->a->first[state], r->a->first[state + 1]};
}

static uint64_t hash_state(const struct refinement *r, uint32_t state)
{
	struct walk w = walk_start(r, state);
	uint64_t h = 0x9e3779b97f4a7c15ull;
	uint32_t class;
	uint8_t last;

	while (walk_step(&w, &last, &class)) {
		h = (h ^ ((uint64_t)class << 8 | last)) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	return h;
}

static int compare_states(const struct refinement *r, uint32_t x, uint32_t y)
{
	struct walk wx = walk_start(r, x), wy = walk_start(r, y);

	for (;;) {
		uint32_t cx = 0, cy = 0;
		uint8_t lx = 0, ly = 0;
		bool more_x = walk_step(&wx, &lx, &cx), more_y = walk_step(&wy, &ly, &cy);

		if (more_x != more_y)
			return more_x ? 1 : -1;
		if (!more_x)
			return 0;
		if (lx != ly)
			return lx < ly ? -1 : 1;
		if (cx != cy)
			return cx < cy ? -1 : 1;
	}
}

static int compare_keyed(const void *a, const void *b, void *context)
{
	const struct keyed *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return compare_states(context, x->state, y->state);
}

/* Moves `size` states from `begin` in `order` to a new class. */
static void split_off(struct refinement *r, uint32_t begin, uint32_t size)
{
	r->classes[r->class_count] = (struct class){.begin = begin, .size = size};
	for (uint32_t i = begin; i < begin + size; i++) {
		r->class_of[r->order[i]] = r->class_count;
		r->moved[r->moved_count++] = r->order[i];
	}
	r->class_count++;
}

/*
 * Splits a class by the classes that its members lead to. The targets of clean members have not
 * changed, so one of them represents them all.
 */
static void split(struct refinement *r, uint32_t number)
{
	struct class *c = &r->classes[number];
	uint32_t begin = c->begin, end = c->begin + c->size, dirty = c->dirty;
	uint32_t count = dirty, clean = c->size - dirty, group, place;
	uint32_t best_begin = 0, best_size = 0;

	c->queued = false;
	c->dirty = 0;
	r->moved_count = 0;
	/*
	 * One clean member takes part, so that its hash identifies the group of the clean members.
	 */
	if (clean)
		count++;
	for (uint32_t i = 0; i < count; i++) {
		r->keyed[i].state = r->order[begin + i];
		r->keyed[i].hash = hash_state(r, r->keyed[i].state);
	}
	uint32_t witness = clean ? r->keyed[dirty].state : NONE;

	qsort_r(r->keyed, count, sizeof(*r->keyed), compare_keyed, r);
	/*
	 * The groups are stored in sequence from `begin`. The group with the witness is last, next
	 * to the clean members.
	 */
	uint32_t witness_begin = NONE, witness_end = NONE;

	for (uint32_t i = 0; witness != NONE && i < count; i = group) {
		bool found = false;

		for (group = i;
		     group < count &&
		     (group == i || compare_keyed(&r->keyed[i], &r->keyed[group], r) == 0);
		     group++)
			found |= r->keyed[group].state == witness;
		if (found) {
			witness_begin = i;
			witness_end = group;
			break;
		}
	}
	place = begin;
	for (uint32_t i = 0; i < count; i++) {
		if (i >= witness_begin && i < witness_end)
			continue;
		r->order[place] = r->keyed[i].state;
		r->position[r->keyed[i].state] = place++;
	}
	uint32_t rest = place; /* from here to `end`: the clean group */

	for (uint32_t i = witness_begin; i < witness_end && witness != NONE; i++) {
		r->order[place] = r->keyed[i].state;
		r->position[r->keyed[i].state] = place++;
	}
	/* Find the largest group and the bounds of all groups in `order`. */
	if (rest < end) {
		best_begin = rest;
		best_size = end - rest;
	}
	for (uint32_t i = begin; i < rest; i = group) {
		for (group = i + 1;
		     group < rest && compare_states(r, r->order[i], r->order[group]) == 0; group++)
			;
		if (group - i > best_size) {
			best_begin = i;
			best_size = group - i;
		}
		r->keyed[i - begin].hash = group; /* end of the group that starts here */
	}
	if (best_size == end - begin)
		return;
	for (uint32_t i = begin; i < rest; i = group) {
		group = (uint32_t)r->keyed[i - begin].hash;
		if (i != best_begin)
			split_off(r, i, group - i);
	}
	if (rest < end && best_begin != rest)
		split_off(r, rest, end - rest);
	r->classes[number].begin = best_begin;
	r->classes[number].size = best_size;
	for (uint32_t i = 0; i < r->moved_count; i++) {
		uint32_t s = r->moved[i];

		for (uint32_t j = r->before_first[s]; j < r->before_first[s + 1]; j++)
			mark_dirty(r, r->before[j]);
	}
}

/* ---- the quotient ---- */

struct numbering {
	uint32_t *number; /* per class: the new state, or NONE */
	uint32_t *class;  /* per new state */
	uint32_t count;
};

static uint32_t number_class(struct numbering *n, uint32_t class)
{
	if (n->number[class] == NONE) {
		n->number[class] = n->count;
		n->class[n->count++] = class;
	}
	return n->number[class];
}

static int write_states(const struct refinement *r, struct numbering *n, struct automaton *out)
{
	size_t segments = 0;

	/* States are added while their successors are numbered. */
	for (uint32_t s = 0; s < n->count; s++) {
		uint32_t member = r->order[r->classes[n->class[s]].begin], class;
		struct walk w = walk_start(r, member);
		uint8_t last;

		out->first[s] = (uint32_t)segments;
		out->verdict[s] = r->a->verdict[member];
		while (walk_step(&w, &last, &class))
			out->segments[segments++] = (struct segment){number_class(n, class), last};
	}
	out->state_count = n->count;
	out->first[n->count] = (uint32_t)segments;
	return 0;
}

/* Verdicts are stored in the order of their first use. */
static int write_verdicts(const struct automaton *a, struct automaton *out)
{
	_cleanup_(freep) uint32_t *number = malloc(a->verdict_count * sizeof(*number));

	if (!number)
		return -ENOMEM;
	memset(number, 0xff, a->verdict_count * sizeof(*number));
	number[0] = 0;
	out->verdicts[0] = a->verdicts[0];
	out->verdict_count = 1;
	for (uint32_t s = 0; s < out->state_count; s++) {
		uint32_t old = out->verdict[s];

		if (number[old] == NONE) {
			number[old] = out->verdict_count;
			out->verdicts[out->verdict_count++] = a->verdicts[old];
		}
		out->verdict[s] = number[old];
	}
	return 0;
}

static int write_quotient(const struct refinement *r, struct automaton **ret_automaton)
{
	const struct automaton *a = r->a;
	_cleanup_(automaton_freep) struct automaton *out = calloc(1, sizeof(*out));
	_cleanup_(freep) uint32_t *number = malloc((r->class_count + 1) * sizeof(*number));
	_cleanup_(freep) uint32_t *class = malloc((r->class_count + 1) * sizeof(*class));
	struct numbering n = {number, class, 0};
	int e;

	if (!out || !number || !class)
		return -ENOMEM;
	memset(number, 0xff, r->class_count * sizeof(*number));
	out->first = calloc(r->class_count + 1, sizeof(*out->first));
	out->segments = calloc(a->first[a->state_count], sizeof(*out->segments));
	out->verdict = calloc(r->class_count, sizeof(*out->verdict));
	out->verdicts = calloc(a->verdict_count, sizeof(*out->verdicts));
	if (!out->first || !out->segments || !out->verdict || !out->verdicts)
		return -ENOMEM;
	number_class(&n, r->class_of[0]);
	for (unsigned int i = 0; i < CORDON_START_COUNT; i++)
		out->start[i] = number_class(&n, r->class_of[a->start[i]]);
	e = write_states(r, &n, out);
	if (e == 0)
		e = write_verdicts(a, out);
	if (e == 0)
		*ret_automaton = TAKE_PTR(out);
	return e;
}

static int refine(struct refinement *r)
{
	if (allocate(r) < 0)
		return -ENOMEM;
	index_predecessors(r);
	partition_by_verdict(r);
	while (r->queue_count)
		split(r, r->queue[--r->queue_count]);
	return 0;
}

int automaton_classes(const struct automaton *a, uint32_t **ret_class_of)
{
	_cleanup_(refinement_release) struct refinement r = {.a = a};

	if (refine(&r) < 0)
		return -ENOMEM;
	*ret_class_of = TAKE_PTR(r.class_of);
	return 0;
}

int automaton_minimise(const struct automaton *a, struct automaton **ret_automaton)
{
	_cleanup_(refinement_release) struct refinement r = {.a = a};

	return refine(&r) < 0 ? -ENOMEM : write_quotient(&r, ret_automaton);
}
