/* SPDX-License-Identifier: Apache-2.0 */
/* Explores, breadth first, the tuples of states that several automata reach by the same bytes. */
#include "policy/automaton/product.h"

#include <string.h>

#include "policy/core/slots.h"
#include "policy/core/vector.h"

#define MARK 256u /* step values from here on are jumps */
#define NONE 0xffffffffu

struct step {
	uint32_t parent;
	uint16_t byte; /* or MARK + the jump's mark */
	bool visited, expanded;
	uint32_t depth; /* bytes from the start */
};

struct level {
	uint32_t *nodes;
	size_t count, capacity;
};

struct jump {
	uint32_t from, to;
};

struct product {
	const struct automaton *const *axes;
	size_t width, limit;
	struct level now, next; /* to be visited, by depth */
	uint32_t *states;	/* `width` per node */
	struct step *steps;
	size_t count, state_capacity, step_capacity;
	struct slots slots; /* of the nodes */
	struct jump *jumps;
	size_t jump_count, jump_capacity;
};

void product_free(struct product *p)
{
	free(p->states);
	free(p->steps);
	free(p->slots.at);
	free(p->now.nodes);
	free(p->next.nodes);
	free(p->jumps);
	free(p);
}

const uint32_t *product_states(const struct product *p, uint32_t node)
{
	return p->states + (size_t)node * p->width;
}

static uint32_t hash_of_node(const void *owner, uint32_t node)
{
	const struct product *p = owner;

	return slots_hash(product_states(p, node), p->width * sizeof(uint32_t));
}

static int push(struct level *level, uint32_t node)
{
	if (vector_reserve(&level->nodes, &level->capacity, level->count + 1) < 0)
		return -ENOMEM;
	level->nodes[level->count++] = node;
	return 0;
}

/*
 * A jump can lead to a tuple that was first found at the next depth: then it is visited at this
 * depth.
 */
static int meet_again(struct product *p, uint32_t node, struct step step, struct level *level)
{
	if (p->steps[node].visited || p->steps[node].depth <= step.depth)
		return 0;
	p->steps[node] = step;
	return push(level, node);
}

/* The slot of a tuple, or the empty slot where it belongs. */
static size_t find_slot(const struct product *p, const uint32_t *states)
{
	size_t bytes = p->width * sizeof(*states);
	size_t slot = slots_first(&p->slots, slots_hash(states, bytes));

	while (p->slots.at[slot] &&
	       memcmp(product_states(p, p->slots.at[slot] - 1), states, bytes) != 0)
		slot = slots_next(&p->slots, slot);
	return slot;
}

static int add_node(struct product *p, const uint32_t *states, struct step step,
		    struct level *level)
{
	size_t bytes = p->width * sizeof(*states), slot;

	if (slots_reserve(&p->slots, p->count, hash_of_node, p) < 0)
		return -ENOMEM;
	slot = find_slot(p, states);
	if (p->slots.at[slot] && p->steps)
		return meet_again(p, p->slots.at[slot] - 1, step, level);
	if (p->count >= p->limit)
		return -E2BIG;
	if (vector_reserve(&p->states, &p->state_capacity, (p->count + 1) * p->width) < 0 ||
	    vector_reserve(&p->steps, &p->step_capacity, p->count + 1) < 0)
		return -ENOMEM;
	memcpy(p->states + p->count * p->width, states, bytes);
	p->steps[p->count] = step;
	p->slots.at[slot] = (uint32_t)++p->count;
	return push(level, (uint32_t)p->count - 1);
}

int product_jump(struct product *p, uint32_t node, const uint32_t *states, unsigned int mark)
{
	struct step step = {
		.parent = node, .byte = (uint16_t)(MARK + mark), .depth = p->steps[node].depth};

	int r = add_node(p, states, step, &p->now);

	if (r < 0)
		return r;
	if (vector_reserve(&p->jumps, &p->jump_capacity, p->jump_count + 1) < 0)
		return -ENOMEM;
	p->jumps[p->jump_count++] = (struct jump){node, p->slots.at[find_slot(p, states)] - 1};
	return 0;
}

/* A range of bytes that all lead to the same tuple. */
struct range {
	uint8_t first, last;
	uint32_t states[PRODUCT_WIDTH_MAX];
};

static size_t gather_ranges(const struct product *p, const uint32_t *from, struct range *ranges)
{
	uint32_t at[PRODUCT_WIDTH_MAX];
	size_t count = 0;

	for (size_t i = 0; i < p->width; i++)
		at[i] = from[i] == PRODUCT_IDLE ? 0 : p->axes[i]->first[from[i]];
	for (unsigned int byte = 0; byte < 256; count++) {
		struct range *r = &ranges[count];

		r->first = (uint8_t)byte;
		r->last = 255;
		for (size_t i = 0; i < p->width; i++) {
			r->states[i] = PRODUCT_IDLE;
			if (from[i] == PRODUCT_IDLE)
				continue;
			while (p->axes[i]->segments[at[i]].last < byte)
				at[i]++;
			r->states[i] = p->axes[i]->segments[at[i]].target;
			if (p->axes[i]->segments[at[i]].last < r->last)
				r->last = p->axes[i]->segments[at[i]].last;
		}
		byte = r->last + 1u;
	}
	return count;
}

/* Among strings of equal length, letters are the most readable. */
static const struct {
	uint8_t first, last;
} preferred[] = {{'a', 'z'}, {'0', '9'}, {'A', 'Z'}, {'!', '~'}, {0x00, 0xff}};

static bool pick_byte(const struct range *r, size_t preference, uint8_t *ret_byte)
{
	uint8_t first = preferred[preference].first, last = preferred[preference].last;

	if (r->last < first || r->first > last)
		return false;
	*ret_byte = r->first > first ? r->first : first;
	return true;
}

static int expand(struct product *p, uint32_t node)
{
	struct step step = {.parent = node, .depth = p->steps[node].depth + 1};
	uint32_t from[PRODUCT_WIDTH_MAX];
	struct range ranges[256];
	size_t count;

	memcpy(from, product_states(p, node), p->width * sizeof(*from));
	count = gather_ranges(p, from, ranges);
	for (size_t preference = 0; preference < ARRAY_SIZE(preferred); preference++)
		for (size_t i = 0; i < count; i++) {
			uint8_t byte;
			int r;

			if (!pick_byte(&ranges[i], preference, &byte))
				continue;
			step.byte = byte;
			r = add_node(p, ranges[i].states, step, &p->next);
			if (r < 0)
				return r;
		}
	return 0;
}

/* Visitors append nodes to the level during the loop. */
static int visit_level(struct product *p, product_visitor *visit, void *context)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->now.count; i++) {
		uint32_t node = p->now.nodes[i];

		if (p->steps[node].visited)
			continue;
		p->steps[node].visited = true;
		r = visit(context, p, node);
		p->steps[node].expanded = r == PRODUCT_EXPAND;
		if (r == PRODUCT_EXPAND)
			r = expand(p, node);
	}
	return r;
}

int product_explore(const struct automaton *const *axes, const uint32_t *start, size_t width,
		    size_t limit, product_visitor *visit, void *context,
		    struct product **ret_product)
{
	_cleanup_(product_freep) struct product *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	if (width > PRODUCT_WIDTH_MAX)
		return -EINVAL;
	p->axes = axes;
	p->width = width;
	p->limit = limit < NONE ? limit : NONE - 1;
	r = add_node(p, start, (struct step){.parent = NONE}, &p->now);
	while (r >= 0 && p->now.count) {
		struct level done;

		r = visit_level(p, visit, context);
		done = p->now;
		p->now = p->next;
		p->next = done;
		p->next.count = 0;
	}
	if (r < 0)
		return r;
	*ret_product = TAKE_PTR(p);
	return 0;
}

int product_string(const struct product *p, uint32_t node, char **ret_string, size_t *ret_size,
		   size_t *ret_marks, size_t mark_count)
{
	size_t size = 0, at;
	char *string;

	for (uint32_t n = node; n != NONE; n = p->steps[n].parent)
		size += p->steps[n].parent != NONE && p->steps[n].byte < MARK;
	string = malloc(size + 1);
	if (!string)
		return -ENOMEM;
	for (size_t i = 0; i < mark_count; i++)
		ret_marks[i] = SIZE_MAX;
	string[size] = '\0';
	at = size;
	for (uint32_t n = node; p->steps[n].parent != NONE; n = p->steps[n].parent) {
		if (p->steps[n].byte < MARK)
			string[--at] = (char)p->steps[n].byte;
		else if (p->steps[n].byte - MARK < mark_count)
			ret_marks[p->steps[n].byte - MARK] = at;
	}
	*ret_string = string;
	*ret_size = size;
	return 0;
}

uint32_t product_depth(const struct product *p, uint32_t node)
{
	return p->steps[node].depth;
}

uint32_t product_count(const struct product *p)
{
	return (uint32_t)p->count;
}

/* ---- sizes ---- */

struct edge {
	uint32_t to;
	uint32_t bytes; /* number of bytes that lead there */
};

struct graph {
	struct edge *edges;
	size_t count, capacity;
	size_t *first;	   /* per node, and the end */
	uint32_t *pending; /* number of incoming edges that were not followed yet */
	uint32_t *ready;
};

static void graph_release(struct graph *g)
{
	free(g->edges);
	free(g->first);
	free(g->pending);
	free(g->ready);
}

static int add_edge(struct graph *g, uint32_t to, uint32_t bytes)
{
	if (vector_reserve(&g->edges, &g->capacity, g->count + 1) < 0)
		return -ENOMEM;
	g->edges[g->count++] = (struct edge){to, bytes};
	g->pending[to]++;
	return 0;
}

static int compare_jumps(const void *left, const void *right)
{
	const struct jump *a = left, *b = right;

	return (a->from > b->from) - (a->from < b->from);
}

static int add_edges(const struct product *p, struct graph *g, uint32_t node)
{
	struct range ranges[256];
	uint32_t from[PRODUCT_WIDTH_MAX];
	size_t count;

	if (!p->steps[node].expanded)
		return 0;
	memcpy(from, product_states(p, node), p->width * sizeof(*from));
	count = gather_ranges(p, from, ranges);
	for (size_t i = 0; i < count; i++) {
		uint32_t found = p->slots.at[find_slot(p, ranges[i].states)];

		if (found && add_edge(g, found - 1, ranges[i].last - ranges[i].first + 1u) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int make_graph(const struct product *p, struct graph *g)
{
	_cleanup_(freep) struct jump *jumps = calloc(p->jump_count + 1, sizeof(*jumps));
	size_t next = 0;

	g->first = calloc(p->count + 1, sizeof(*g->first));
	g->pending = calloc(p->count + 1, sizeof(*g->pending));
	g->ready = calloc(p->count + 1, sizeof(*g->ready));
	if (!jumps || !g->first || !g->pending || !g->ready)
		return -ENOMEM;
	if (p->jump_count > 0)
		memcpy(jumps, p->jumps, p->jump_count * sizeof(*jumps));
	qsort(jumps, p->jump_count, sizeof(*jumps), compare_jumps);
	for (uint32_t node = 0; node < p->count; node++) {
		g->first[node] = g->count;
		if (add_edges(p, g, node) < 0)
			return -ENOMEM;
		for (; next < p->jump_count && jumps[next].from == node; next++)
			if (add_edge(g, jumps[next].to, 1) < 0)
				return -ENOMEM;
	}
	g->first[p->count] = g->count;
	return 0;
}

static uint64_t saturate(uint64_t sum, uint64_t count, uint64_t factor)
{
	uint64_t more;

	if (__builtin_mul_overflow(count, factor, &more) || __builtin_add_overflow(sum, more, &sum))
		return PRODUCT_UNBOUNDED - 1;
	return sum;
}

/*
 * A node is done once all its predecessors are (Kahn 1962). All nodes are reachable from the first,
 * so a node that is never done is reached through a cycle: by an unlimited number of strings.
 */
static void count_strings(const struct product *p, struct graph *g, uint64_t *sizes)
{
	size_t ready = 0;

	if (p->count > 0 && g->pending[0] == 0) {
		sizes[0] = 1;
		g->ready[ready++] = 0;
	}
	for (size_t done = 0; done < ready; done++) {
		uint32_t node = g->ready[done];

		for (size_t i = g->first[node]; i < g->first[node + 1]; i++) {
			const struct edge *e = &g->edges[i];

			sizes[e->to] = saturate(sizes[e->to], sizes[node], e->bytes);
			if (--g->pending[e->to] == 0)
				g->ready[ready++] = e->to;
		}
	}
	for (uint32_t node = 0; node < p->count; node++)
		if (g->pending[node] > 0)
			sizes[node] = PRODUCT_UNBOUNDED;
}

/* Tarjan 1972, without recursion. */
struct components {
	uint32_t *number, *low; /* by node; 0: not visited */
	size_t *next;		/* edge to be followed */
	uint32_t *path, *open;
	size_t path_count, open_count;
	uint32_t visited;
	bool *is_open, *cyclic;
};

static void components_release(struct components *c)
{
	free(c->number);
	free(c->low);
	free(c->next);
	free(c->path);
	free(c->open);
	free(c->is_open);
}

static int components_init(struct components *c, size_t count)
{
	c->number = calloc(count, sizeof(*c->number));
	c->low = calloc(count, sizeof(*c->low));
	c->next = calloc(count, sizeof(*c->next));
	c->path = calloc(count, sizeof(*c->path));
	c->open = calloc(count, sizeof(*c->open));
	c->is_open = calloc(count, sizeof(*c->is_open));
	return c->number && c->low && c->next && c->path && c->open && c->is_open ? 0 : -ENOMEM;
}

static void enter(struct components *c, const struct graph *g, uint32_t node)
{
	c->number[node] = c->low[node] = ++c->visited;
	c->next[node] = g->first[node];
	c->is_open[node] = true;
	c->path[c->path_count++] = node;
	c->open[c->open_count++] = node;
}

/* In a component of several nodes each node is on a cycle. */
static void close_component(struct components *c, uint32_t root)
{
	bool several = c->open[c->open_count - 1] != root;
	uint32_t node;

	do {
		node = c->open[--c->open_count];
		c->is_open[node] = false;
		c->cyclic[node] |= several;
	} while (node != root);
}

static void follow_edge(struct components *c, const struct graph *g, uint32_t node)
{
	uint32_t to = g->edges[c->next[node]++].to;

	if (to == node)
		c->cyclic[node] = true;
	if (!c->number[to])
		enter(c, g, to);
	else if (c->is_open[to] && c->number[to] < c->low[node])
		c->low[node] = c->number[to];
}

static void leave(struct components *c, uint32_t node)
{
	uint32_t before;

	c->path_count--;
	if (c->low[node] == c->number[node])
		close_component(c, node);
	if (c->path_count == 0)
		return;
	before = c->path[c->path_count - 1];
	if (c->low[node] < c->low[before])
		c->low[before] = c->low[node];
}

/* Finds the nodes that are on a cycle. All nodes are reachable from the first. */
static int find_cycles(const struct product *p, const struct graph *g, bool *cyclic)
{
	_cleanup_(components_release) struct components c = {.cyclic = cyclic};

	if (components_init(&c, p->count + 1) < 0)
		return -ENOMEM;
	if (p->count > 0)
		enter(&c, g, 0);
	while (c.path_count > 0) {
		uint32_t node = c.path[c.path_count - 1];

		if (c.next[node] < g->first[node + 1])
			follow_edge(&c, g, node);
		else
			leave(&c, node);
	}
	return 0;
}

int product_sizes(const struct product *p, uint64_t **ret_sizes, uint32_t **ret_bounds)
{
	_cleanup_(graph_release) struct graph g = {};
	_cleanup_(freep) uint64_t *sizes = calloc(p->count + 1, sizeof(*sizes));
	_cleanup_(freep) uint32_t *bounds = calloc(p->count + 1, sizeof(*bounds));
	_cleanup_(freep) bool *cyclic = calloc(p->count + 1, sizeof(*cyclic));

	if (!sizes || !bounds || !cyclic || make_graph(p, &g) < 0 || find_cycles(p, &g, cyclic) < 0)
		return -ENOMEM;
	count_strings(p, &g, sizes);
	/* Predecessors have lower numbers. */
	for (uint32_t node = 0; node < p->count; node++) {
		uint32_t parent = p->steps[node].parent, depth = p->steps[node].depth;

		bounds[node] = parent == NONE ? PRODUCT_NO_BOUND : bounds[parent];
		if (bounds[node] == PRODUCT_NO_BOUND && cyclic[node])
			bounds[node] = depth > 0 ? depth - 1 : 0;
	}
	*ret_sizes = TAKE_PTR(sizes);
	*ret_bounds = TAKE_PTR(bounds);
	return 0;
}
