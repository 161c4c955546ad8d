/* SPDX-License-Identifier: Apache-2.0 */
/* Finds every rule that matches a name, not only the deciding one: for explanations. */
#include "policy/ask/match.h"

#include <string.h>

#include "policy/source/load.h"
#include "policy/automaton/lower.h"
#include "policy/core/vector.h"

struct simulation {
	const struct nfa *nfa;
	uint32_t *now, *next;
	size_t now_count, next_count;
	bool *seen; /* per node, of `next` */
	bool case_insensitive;
};

static void simulation_release(struct simulation *s)
{
	free(s->now);
	free(s->next);
	free(s->seen);
}

/*
 * Adds a node and all nodes that it reaches without a byte to `next`, which has room for every
 * node.
 */
static void enter(struct simulation *s, uint32_t node)
{
	size_t at = s->next_count;

	if (s->seen[node])
		return;
	s->seen[node] = true;
	s->next[s->next_count++] = node;
	for (; at < s->next_count; at++)
		for (uint32_t i = s->nfa->nodes[s->next[at]].skips; i; i = s->nfa->skips[i].next) {
			uint32_t target = s->nfa->skips[i].target;

			if (s->seen[target])
				continue;
			s->seen[target] = true;
			s->next[s->next_count++] = target;
		}
}

static void advance(struct simulation *s)
{
	uint32_t *swap = s->now;

	s->now = s->next;
	s->now_count = s->next_count;
	s->next = swap;
	s->next_count = 0;
	for (size_t i = 0; i < s->now_count; i++)
		s->seen[s->now[i]] = false;
}

static void enter_by(struct simulation *s, unsigned char byte)
{
	for (size_t i = 0; i < s->now_count; i++)
		for (uint32_t e = s->nfa->nodes[s->now[i]].edges; e; e = s->nfa->edges[e].next)
			if (s->nfa->edges[e].low <= byte && byte <= s->nfa->edges[e].high)
				enter(s, s->nfa->edges[e].target);
}

static void step(struct simulation *s, unsigned char byte)
{
	enter_by(s, byte);
	if (s->case_insensitive && (unsigned char)((byte | 0x20) - 'a') < 26)
		enter_by(s, byte ^ 0x20);
	advance(s);
}

static int add_match(struct policy_matches *m, size_t *capacity, struct policy_match match)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->list[i].rule == match.rule)
			return 0;
	if (vector_reserve(&m->list, capacity, m->count + 1) < 0)
		return -ENOMEM;
	m->list[m->count++] = match;
	return 0;
}

static int run(struct simulation *s, unsigned int start, const char *bytes, size_t size, bool slash,
	       uint32_t right, struct policy_matches *m, size_t *capacity)
{
	int r = 0;

	if (!s->nfa->starts[start])
		return 0;
	enter(s, s->nfa->starts[start]);
	advance(s);
	for (size_t i = 0; i < size; i++)
		step(s, (unsigned char)bytes[i]);
	if (slash)
		step(s, '/');
	for (size_t i = 0; i < s->now_count; i++)
		for (uint32_t e = s->nfa->nodes[s->now[i]].accepts; e && r == 0;
		     e = s->nfa->accepts[e].next) {
			const struct nfa_accept *a = &s->nfa->accepts[e];

			if ((a->rights | a->rights >> CORDON_EXCEPT_SHIFT) & CORDON_RIGHT(right) &&
			    a->rule != CORDON_NO_RULE)
				r = add_match(m, capacity, (struct policy_match){a->rule, a->deny});
		}
	return r;
}

static int run_all(struct simulation *s, const struct policy_question *q, struct policy_matches *m,
		   size_t *capacity)
{
	bool root = q->size == 1 && q->bytes[0] == '/';
	size_t size = root ? 0 : q->size;
	int r = 0;

	if (q->start != CORDON_START_PATH)
		return run(s, q->start, q->bytes, q->size, false, q->right, m, capacity);
	for (unsigned int start = 0; start < CORDON_START_COUNT && r == 0; start++) {
		bool anchored = start >= CORDON_START_ANCHOR;
		size_t begin = anchored ? q->path.anchors[start - CORDON_START_ANCHOR] : 0;

		if ((!anchored && start != CORDON_START_PATH && start != CORDON_START_FLOATING) ||
		    begin == POLICY_NO_ANCHOR)
			continue;
		r = run(s, start, q->bytes + begin, size - begin,
			q->path.listing || (root && !anchored), q->right, m, capacity);
	}
	return r;
}

static int compare_matches(const void *a, const void *b)
{
	const struct policy_match *x = a, *y = b;

	if (x->deny != y->deny)
		return x->deny ? -1 : 1;
	return (x->rule > y->rule) - (x->rule < y->rule);
}

static int load_rules(struct arena *a, const char *name, const struct policy_search *search,
		      struct nfa **ret_nfa)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct source *source = NULL;
	struct model *model = NULL;
	const char *path = NULL;
	uint32_t anchors;
	int r = d ? source_find(a, name, search, &path) : -ENOMEM;

	if (r == 0)
		r = source_read(a, path, path, &source);
	if (r == 0)
		r = load_model(a, source, search, d, &model);
	return r < 0 ? r : lower_rules(a, model, d, ret_nfa, &anchors);
}

void policy_matches_release(struct policy_matches *m)
{
	free(m->list);
	m->list = NULL;
}

int policy_match_rules(const struct nfa *nfa, const struct policy_question *q,
		       struct policy_matches *ret_matches)
{
	_cleanup_(simulation_release) struct simulation s = {
		.nfa = nfa, .case_insensitive = q->path.case_insensitive};
	_cleanup_(policy_matches_release) struct policy_matches m = {0};
	size_t capacity = 0;
	int r;

	s.now = calloc(nfa->node_count, sizeof(*s.now));
	s.next = calloc(nfa->node_count, sizeof(*s.next));
	s.seen = calloc(nfa->node_count, sizeof(*s.seen));
	if (!s.now || !s.next || !s.seen)
		return -ENOMEM;
	r = run_all(&s, q, &m, &capacity);
	if (r < 0)
		return r;
	if (m.count)
		qsort(m.list, m.count, sizeof(*m.list), compare_matches);
	*ret_matches = m;
	m.list = NULL;
	return 0;
}

int policy_find_matches(const char *name_or_path, const struct policy_search *search,
			const struct policy_question *q, struct policy_matches *ret_matches)
{
	_cleanup_(arena_freep) struct arena *a = arena_new();
	_cleanup_(nfa_freep) struct nfa *nfa = NULL;
	int r = a ? load_rules(a, name_or_path, search, &nfa) : -ENOMEM;

	return r < 0 ? r : policy_match_rules(nfa, q, ret_matches);
}
