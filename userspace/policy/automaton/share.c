/* SPDX-License-Identifier: Apache-2.0 */
/* Merges nodes that give the same verdicts for every continuation. */
#include "policy/automaton/share.h"

#include <string.h>

#include "policy/core/slots.h"
#include "policy/core/vector.h"

/*
 * Nodes are processed in post-order of a depth-first search, so all successors of a node are
 * processed before it. This works because a pattern automaton has no cycles except edges from a
 * node to itself.
 *
 * A node's content is then a list of words, equal for equal nodes, and is looked up in a hash
 * table.
 */
struct sharing {
	const struct nfa *from;
	struct nfa *to;
	uint32_t *order; /* nodes in post-order */
	size_t order_count;
	uint32_t *class; /* per node: 1 + number of its class, 0: not processed yet */
	/* per class: its words, and its first processed node */
	size_t *first; /* class_count + 1, into `words` */
	uint32_t *representative;
	size_t class_count;
	uint64_t *words;
	size_t word_count, word_capacity;
	struct slots slots; /* of the classes */
};

#define SELF 0u /* replaces the class of the node itself */

static void sharing_release(struct sharing *s)
{
	if (s->to)
		nfa_free(s->to);
	free(s->order);
	free(s->class);
	free(s->first);
	free(s->representative);
	free(s->words);
	free(s->slots.at);
}

/* ---- the order ---- */

/* The edges, then the skips, of a node that are still to be visited. */
struct visit {
	uint32_t node, edge, skip;
};

static bool next_target(const struct nfa *n, struct visit *v, uint32_t *ret_target)
{
	if (v->edge) {
		*ret_target = n->edges[v->edge].target;
		v->edge = n->edges[v->edge].next;
		return true;
	}
	if (v->skip) {
		*ret_target = n->skips[v->skip].target;
		v->skip = n->skips[v->skip].next;
		return true;
	}
	return false;
}

static struct visit enter(struct sharing *s, bool *seen, uint32_t node)
{
	seen[node] = true;
	return (struct visit){node, s->from->nodes[node].edges, s->from->nodes[node].skips};
}

static int order_from(struct sharing *s, uint32_t start, bool *seen)
{
	_cleanup_(freep) struct visit *stack = NULL;
	size_t depth = 0, capacity = 0;
	uint32_t target;

	if (vector_reserve(&stack, &capacity, 1) < 0)
		return -ENOMEM;
	stack[depth++] = enter(s, seen, start);
	while (depth) {
		if (!next_target(s->from, &stack[depth - 1], &target)) {
			s->order[s->order_count++] = stack[--depth].node;
			continue;
		}
		if (seen[target])
			continue;
		if (vector_reserve(&stack, &capacity, depth + 1) < 0)
			return -ENOMEM;
		stack[depth++] = enter(s, seen, target);
	}
	return 0;
}

static int order_nodes(struct sharing *s)
{
	_cleanup_(freep) bool *seen = calloc(s->from->node_count, sizeof(*seen));
	int r = seen ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < CORDON_START_COUNT && r == 0; i++)
		if (s->from->starts[i] && !seen[s->from->starts[i]])
			r = order_from(s, s->from->starts[i], seen);
	return r;
}

/* ---- content of a node ---- */

enum word_kind { WORD_FLAGS, WORD_EDGE, WORD_SKIP, WORD_ACCEPT };

#define WORD_KIND_SHIFT 62
/* Position of the rule in WORD_ACCEPT, above the rights and the deny bit. */
#define RULE_SHIFT (CORDON_EXCEPT_SHIFT + CORDON_RIGHT_COUNT + 1)

static int add_word(struct sharing *s, enum word_kind kind, uint64_t content)
{
	if (vector_reserve(&s->words, &s->word_capacity, s->word_count + 1) < 0)
		return -ENOMEM;
	s->words[s->word_count++] = (uint64_t)kind << WORD_KIND_SHIFT | content;
	return 0;
}

static int compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The order of words and repeated words have no meaning. */
static void tidy_words(struct sharing *s)
{
	uint64_t *words = s->words + s->first[s->class_count];
	size_t count = s->word_count - s->first[s->class_count], kept = 0;
	bool sorted = true;

	for (size_t i = 1; i < count && sorted; i++)
		sorted = words[i - 1] < words[i];
	if (sorted)
		return;
	qsort(words, count, sizeof(*words), compare_words);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || words[kept - 1] != words[i])
			words[kept++] = words[i];
	s->word_count = s->first[s->class_count] + kept;
}

static uint64_t class_behind(const struct sharing *s, uint32_t node, uint32_t target)
{
	return target == node ? SELF : s->class[target];
}

static int write_node(struct sharing *s, uint32_t node)
{
	const struct nfa *n = s->from;
	const struct nfa_node *at = &n->nodes[node];
	int r = add_word(s, WORD_FLAGS, (uint64_t)at->sink << 1 | at->floating);

	for (uint32_t i = at->edges; i && r == 0; i = n->edges[i].next)
		r = add_word(s, WORD_EDGE,
			     class_behind(s, node, n->edges[i].target) << 16 |
				     (uint64_t)n->edges[i].low << 8 | n->edges[i].high);
	for (uint32_t i = at->skips; i && r == 0; i = n->skips[i].next)
		r = add_word(s, WORD_SKIP, class_behind(s, node, n->skips[i].target));
	for (uint32_t i = at->accepts; i && r == 0; i = n->accepts[i].next)
		r = add_word(s, WORD_ACCEPT,
			     (uint64_t)n->accepts[i].rule << RULE_SHIFT |
				     (uint64_t)n->accepts[i].rights << 1 | n->accepts[i].deny);
	if (r == 0)
		tidy_words(s);
	return r;
}

_Static_assert(CORDON_RIGHT_COUNT <= 16, "a policy's tables have room for 16 rights");

/* ---- classes ---- */

static uint32_t hash_of_class(const void *owner, uint32_t class)
{
	const struct sharing *s = owner;

	return slots_hash(s->words + s->first[class],
			  (s->first[class + 1] - s->first[class]) * sizeof(*s->words));
}

/*
 * Finds the class of the node that added the last words. If the class is known, these words are
 * removed again.
 */
static int find_class(struct sharing *s, uint32_t node)
{
	size_t begin = s->first[s->class_count], count = s->word_count - begin;
	const uint64_t *words = s->words + begin;
	size_t slot;

	if (slots_reserve(&s->slots, s->class_count, hash_of_class, s) < 0)
		return -ENOMEM;
	for (slot = slots_first(&s->slots, slots_hash(words, count * sizeof(*words)));
	     s->slots.at[slot]; slot = slots_next(&s->slots, slot)) {
		uint32_t class = s->slots.at[slot] - 1;

		if (s->first[class + 1] - s->first[class] != count ||
		    memcmp(s->words + s->first[class], words, count * sizeof(*words)) != 0)
			continue;
		s->word_count = begin;
		s->class[node] = class + 1;
		return 0;
	}
	s->representative[s->class_count++] = node;
	s->class[node] = s->slots.at[slot] = (uint32_t)s->class_count;
	s->first[s->class_count] = s->word_count;
	return 0;
}

static int classify(struct sharing *s)
{
	int r = 0;

	for (size_t i = 0; i < s->order_count && r == 0; i++) {
		r = write_node(s, s->order[i]);
		if (r == 0)
			r = find_class(s, s->order[i]);
	}
	return r;
}

/* ---- the automaton of classes ---- */

/* Classes are numbered from the ends of patterns, but nodes from the beginnings. */
static uint32_t node_of(const struct sharing *s, uint32_t node)
{
	return node && s->class[node] ? (uint32_t)s->class_count + 1 - s->class[node] : 0;
}

static int copy_edge(struct sharing *s, uint32_t node, uint64_t content)
{
	struct nfa *to = s->to;
	uint64_t class = content >> 16;
	uint32_t target = class == SELF ? node : (uint32_t)(s->class_count + 1 - class);

	if (vector_reserve(&to->edges, &to->edge_capacity, to->edge_count + 1) < 0)
		return -ENOMEM;
	to->edges[to->edge_count] = (struct nfa_edge){(uint8_t)(content >> 8), (uint8_t)content,
						      target, to->nodes[node].edges};
	to->nodes[node].edges = (uint32_t)to->edge_count++;
	return 0;
}

static int copy_skip(struct sharing *s, uint32_t node, uint64_t class)
{
	struct nfa *to = s->to;

	if (vector_reserve(&to->skips, &to->skip_capacity, to->skip_count + 1) < 0)
		return -ENOMEM;
	to->skips[to->skip_count] =
		(struct nfa_skip){(uint32_t)(s->class_count + 1 - class), to->nodes[node].skips};
	to->nodes[node].skips = (uint32_t)to->skip_count++;
	return 0;
}

static int copy_accept(struct sharing *s, uint32_t node, uint64_t content)
{
	return nfa_add_accept(s->to, node, (uint32_t)(content >> RULE_SHIFT),
			      (uint32_t)(content >> 1), content & 1);
}

static int copy_class(struct sharing *s, size_t class)
{
	const struct nfa_node *old = &s->from->nodes[s->representative[class]];
	uint32_t node = (uint32_t)(s->class_count - class);
	int r = 0;

	s->to->nodes[node] = (struct nfa_node){.parent = node_of(s, old->parent),
					       .owner = old->owner,
					       .sink = old->sink,
					       .floating = old->floating};
	for (size_t i = s->first[class]; i < s->first[class + 1] && r == 0; i++) {
		uint64_t content = s->words[i] << 2 >> 2;

		switch ((enum word_kind)(s->words[i] >> WORD_KIND_SHIFT)) {
		case WORD_FLAGS:
			break;
		case WORD_EDGE:
			r = copy_edge(s, node, content);
			break;
		case WORD_SKIP:
			r = copy_skip(s, node, content);
			break;
		case WORD_ACCEPT:
			r = copy_accept(s, node, content);
			break;
		}
	}
	return r;
}

static int copy_classes(struct sharing *s)
{
	int r = vector_reserve(&s->to->nodes, &s->to->node_capacity, s->class_count + 1);

	for (size_t i = s->class_count; i > 0 && r == 0; i--)
		r = copy_class(s, i - 1);
	s->to->node_count = s->class_count + 1;
	for (unsigned int i = 0; i < CORDON_START_COUNT && r == 0; i++)
		s->to->starts[i] = node_of(s, s->from->starts[i]);
	return r;
}

static int allocate(struct sharing *s)
{
	size_t count = s->from->node_count;

	s->order = calloc(count, sizeof(*s->order));
	s->class = calloc(count, sizeof(*s->class));
	s->first = calloc(count + 1, sizeof(*s->first));
	s->representative = calloc(count, sizeof(*s->representative));
	s->to = nfa_new();
	if (s->to)
		s->to->exceptions = s->from->exceptions;
	return s->order && s->class && s->first && s->representative && s->to ? 0 : -ENOMEM;
}

int nfa_share(const struct nfa *n, struct nfa **ret_shared)
{
	_cleanup_(sharing_release) struct sharing s = {.from = n};
	int r = allocate(&s);

	if (r == 0)
		r = order_nodes(&s);
	if (r == 0)
		r = classify(&s);
	if (r == 0)
		r = copy_classes(&s);
	if (r == 0)
		*ret_shared = TAKE_PTR(s.to);
	return r;
}
