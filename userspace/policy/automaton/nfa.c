/* SPDX-License-Identifier: Apache-2.0 */
/* The nondeterministic automaton of a policy: one trie of pattern elements per start state. */
#include "policy/automaton/nfa.h"

#include <string.h>

#include "policy/core/slots.h"
#include "policy/core/vector.h"

struct nfa_child {
	uint64_t key; /* 0: free */
	uint32_t node;
};

struct nfa *nfa_new(void)
{
	_cleanup_(nfa_freep) struct nfa *n = calloc(1, sizeof(*n));

	if (!n || vector_reserve(&n->nodes, &n->node_capacity, 1) < 0 ||
	    vector_reserve(&n->edges, &n->edge_capacity, 1) < 0 ||
	    vector_reserve(&n->skips, &n->skip_capacity, 1) < 0 ||
	    vector_reserve(&n->accepts, &n->accept_capacity, 1) < 0)
		return NULL;
	n->node_count = n->edge_count = n->skip_count = n->accept_count = 1;
	return TAKE_PTR(n);
}

void nfa_free(struct nfa *n)
{
	free(n->nodes);
	free(n->edges);
	free(n->skips);
	free(n->accepts);
	free(n->children);
	free(n->sets);
	free(n->set_slots.at);
	free(n);
}

static int add_node(struct nfa *n, uint32_t *ret_node)
{
	if (n->node_count >= NFA_NODES_MAX)
		return -E2BIG;
	if (vector_reserve(&n->nodes, &n->node_capacity, n->node_count + 1) < 0)
		return -ENOMEM;
	n->nodes[n->node_count] = (struct nfa_node){.owner = n->owner, .floating = n->floating};
	*ret_node = (uint32_t)n->node_count++;
	return 0;
}

static int add_edge(struct nfa *n, uint32_t from, uint8_t low, uint8_t high, uint32_t target)
{
	if (vector_reserve(&n->edges, &n->edge_capacity, n->edge_count + 1) < 0)
		return -ENOMEM;
	n->edges[n->edge_count] = (struct nfa_edge){low, high, target, n->nodes[from].edges};
	n->nodes[from].edges = (uint32_t)n->edge_count++;
	return 0;
}

static int add_skip(struct nfa *n, uint32_t from, uint32_t target)
{
	if (vector_reserve(&n->skips, &n->skip_capacity, n->skip_count + 1) < 0)
		return -ENOMEM;
	n->skips[n->skip_count] = (struct nfa_skip){target, n->nodes[from].skips};
	n->nodes[from].skips = (uint32_t)n->skip_count++;
	return 0;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

static int grow_children(struct nfa *n)
{
	size_t capacity = n->child_capacity ? n->child_capacity * 2 : 1024;
	struct nfa_child *larger;

	if (n->child_count * 2 < n->child_capacity)
		return 0;
	larger = calloc(capacity, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	for (size_t i = 0; i < n->child_capacity; i++) {
		size_t slot = mix(n->children[i].key) & (capacity - 1);

		if (!n->children[i].key)
			continue;
		while (larger[slot].key)
			slot = (slot + 1) & (capacity - 1);
		larger[slot] = n->children[i];
	}
	free(n->children);
	n->children = larger;
	n->child_capacity = capacity;
	return 0;
}

static uint32_t hash_of_set(const void *owner, uint32_t id)
{
	const struct element *set = &((const struct nfa *)owner)->sets[id];

	return slots_hash(set->ascii, sizeof(set->ascii));
}

static int intern_set(struct nfa *n, const struct element *element, uint32_t *ret_id)
{
	size_t slot;

	if (slots_reserve(&n->set_slots, n->set_count, hash_of_set, n) < 0)
		return -ENOMEM;
	for (slot = slots_first(&n->set_slots, slots_hash(element->ascii, sizeof(element->ascii)));
	     n->set_slots.at[slot]; slot = slots_next(&n->set_slots, slot)) {
		uint32_t id = n->set_slots.at[slot] - 1;

		if (memcmp(n->sets[id].ascii, element->ascii, sizeof(element->ascii)) == 0) {
			*ret_id = id;
			return 0;
		}
	}
	if (vector_reserve(&n->sets, &n->set_capacity, n->set_count + 1) < 0)
		return -ENOMEM;
	n->sets[n->set_count] = *element;
	*ret_id = (uint32_t)n->set_count++;
	n->set_slots.at[slot] = *ret_id + 1;
	return 0;
}

/* Edges for the members of an ASCII set, one per run of neighbours. */
static int connect_set(struct nfa *n, uint32_t from, const uint32_t ascii[4], uint32_t to)
{
	for (unsigned int low = 0; low < 128; low++) {
		unsigned int high = low;
		int r;

		if (!(ascii[low / 32] >> (low % 32) & 1))
			continue;
		while (high + 1 < 128 && ascii[(high + 1) / 32] >> ((high + 1) % 32) & 1)
			high++;
		r = add_edge(n, from, (uint8_t)low, (uint8_t)high, to);
		if (r < 0)
			return r;
		low = high;
	}
	return 0;
}

/* From `from` over one byte of a range, then `more` continuation bytes, to `to`. */
static int connect_sequence(struct nfa *n, uint32_t from, uint8_t low, uint8_t high,
			    uint8_t second_low, uint8_t second_high, unsigned int more, uint32_t to)
{
	uint8_t l = low, h = high;

	for (unsigned int i = 0; i < more; i++) {
		uint32_t middle;
		int r = add_node(n, &middle);

		if (r == 0)
			r = add_edge(n, from, l, h, middle);
		if (r < 0)
			return r;
		from = middle;
		l = i == 0 ? second_low : 0x80;
		h = i == 0 ? second_high : 0xbf;
	}
	return add_edge(n, from, l, h, to);
}

static int connect_character(struct nfa *n, uint32_t from, const struct element *element,
			     uint32_t to)
{
	/*
	 * Unicode, table 3-7: range of first bytes, range of the second, number of further bytes.
	 */
	static const struct {
		uint8_t low, high, second_low, second_high, more;
	} rows[] = {
		{0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2},
		{0xe1, 0xec, 0x80, 0xbf, 2}, {0xed, 0xed, 0x80, 0x9f, 2},
		{0xee, 0xef, 0x80, 0xbf, 2}, {0xf0, 0xf0, 0x90, 0xbf, 3},
		{0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3},
	};
	int r = connect_set(n, from, element->ascii, to);

	if (r == 0)
		r = add_edge(n, from, 0x80, 0xff, to);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++)
		r = connect_sequence(n, from, rows[i].low, rows[i].high, rows[i].second_low,
				     rows[i].second_high, rows[i].more, to);
	return r;
}

static int connect_star(struct nfa *n, uint32_t from, uint32_t to)
{
	int r = add_edge(n, to, 0x00, '/' - 1, to);

	if (r == 0)
		r = add_edge(n, to, '/' + 1, 0xff, to);
	return r < 0 ? r : add_skip(n, from, to);
}

static int connect_dirstar(struct nfa *n, uint32_t from, uint32_t to)
{
	uint32_t below;
	int r = add_node(n, &below);

	if (r == 0)
		r = add_skip(n, from, to);
	if (r == 0)
		r = add_skip(n, from, below);
	if (r == 0)
		r = add_edge(n, below, 0x00, 0xff, below);
	return r < 0 ? r : add_edge(n, below, '/', '/', to);
}

static int connect_element(struct nfa *n, uint32_t from, const struct element *element, uint32_t to)
{
	int r;

	switch (element->kind) {
	case ELEMENT_RANGE:
		return add_edge(n, from, element->low, element->high, to);
	case ELEMENT_SET:
		return connect_set(n, from, element->ascii, to);
	case ELEMENT_CHARACTER:
		return connect_character(n, from, element, to);
	case ELEMENT_STAR:
		return connect_star(n, from, to);
	case ELEMENT_GLOBSTAR:
		r = add_edge(n, to, 0x00, 0xff, to);
		return r < 0 ? r : add_skip(n, from, to);
	case ELEMENT_DIRSTAR:
		return connect_dirstar(n, from, to);
	}
	return -EINVAL;
}

int nfa_start(struct nfa *n, enum cordon_start start, uint32_t *ret_node)
{
	n->floating = start == CORDON_START_FLOATING;
	if (!n->starts[start]) {
		int r = add_node(n, &n->starts[start]);

		if (r < 0)
			return r;
	}
	*ret_node = n->starts[start];
	return 0;
}

static int make_child(struct nfa *n, uint32_t node, const struct element *element,
		      uint32_t *ret_node)
{
	uint32_t to;
	int r = add_node(n, &to);

	if (r == 0)
		r = connect_element(n, node, element, to);
	if (r == 0)
		*ret_node = to;
	return r;
}

int nfa_follow(struct nfa *n, uint32_t node, const struct element *element, uint32_t *ret_node)
{
	uint32_t payload = 0, child;
	uint64_t key;
	size_t slot;
	int r = grow_children(n);

	if (r < 0)
		return r;
	if (element->kind == ELEMENT_RANGE)
		payload = (uint32_t)element->low << 8 | element->high;
	else if (element->kind == ELEMENT_SET || element->kind == ELEMENT_CHARACTER)
		r = intern_set(n, element, &payload);
	if (r < 0)
		return r;
	key = (uint64_t)node << 32 | (uint64_t)element->kind << 28 | payload;
	for (slot = mix(key) & (n->child_capacity - 1); n->children[slot].key;
	     slot = (slot + 1) & (n->child_capacity - 1)) {
		if (n->children[slot].key == key) {
			*ret_node = n->children[slot].node;
			return 0;
		}
	}
	r = make_child(n, node, element, &child);
	if (r < 0)
		return r;
	n->nodes[child].parent = node;
	n->children[slot] = (struct nfa_child){key, child};
	n->child_count++;
	*ret_node = child;
	return 0;
}

int nfa_follow_range(struct nfa *n, uint32_t node, uint8_t low, uint8_t high, uint32_t *ret_node)
{
	struct element element = {.kind = ELEMENT_RANGE, .low = low, .high = high};

	return nfa_follow(n, node, &element, ret_node);
}

int nfa_add_accept(struct nfa *n, uint32_t node, uint32_t rule, uint32_t rights, bool deny)
{
	if (vector_reserve(&n->accepts, &n->accept_capacity, n->accept_count + 1) < 0)
		return -ENOMEM;
	n->accepts[n->accept_count] =
		(struct nfa_accept){rule, rights, deny, n->nodes[node].accepts};
	n->nodes[node].accepts = (uint32_t)n->accept_count++;
	return 0;
}

int nfa_add_sink(struct nfa *n, uint32_t node, uint32_t rule, uint32_t rights, bool deny)
{
	const struct nfa_node *last = &n->nodes[n->last_sink];
	const struct nfa_accept *accept = &n->accepts[n->last_sink ? last->accepts : 0];
	uint32_t sink = n->last_sink;
	int r = 0;

	if (!sink || accept->rule != rule || accept->rights != rights || accept->deny != deny) {
		r = add_node(n, &sink);
		if (r == 0)
			r = add_edge(n, sink, 0x00, 0xff, sink);
		if (r == 0)
			r = nfa_add_accept(n, sink, rule, rights, deny);
		if (r < 0)
			return r;
		n->nodes[sink].sink = true;
		n->nodes[sink].parent = node;
		n->last_sink = sink;
	}
	for (uint32_t i = n->nodes[node].skips; i; i = n->skips[i].next)
		if (n->skips[i].target == sink)
			return 0;
	return add_skip(n, node, sink);
}
