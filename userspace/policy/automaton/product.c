/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/automaton/product.h"

#include <string.h>

#include "policy/core/slots.h"
#include "policy/core/vector.h"

#define MARK 256u /* steps from here on are jumps */
#define NONE 0xffffffffu

struct step {
	uint32_t parent;
	uint16_t byte; /* or MARK + the jump's mark */
	bool visited;
	uint32_t depth; /* bytes from the start */
};

struct level {
	uint32_t *nodes;
	size_t count, capacity;
};

struct product {
	const struct automaton *const *axes;
	size_t width, limit;
	struct level now, next; /* to be visited: of the present depth, and one byte further */
	uint32_t *states;	/* `width` per node */
	struct step *steps;
	size_t count, state_capacity, step_capacity;
	struct slots slots; /* of the nodes */
};

void product_free(struct product *p)
{
	free(p->states);
	free(p->steps);
	free(p->slots.at);
	free(p->now.nodes);
	free(p->next.nodes);
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

/* A jump may lead to what was met one byte further before: then it is visited at this depth. */
static int meet_again(struct product *p, uint32_t node, struct step step, struct level *level)
{
	if (p->steps[node].visited || p->steps[node].depth <= step.depth)
		return 0;
	p->steps[node] = step;
	return push(level, node);
}

static int add_node(struct product *p, const uint32_t *states, struct step step,
		    struct level *level)
{
	size_t bytes = p->width * sizeof(*states), slot;

	if (slots_reserve(&p->slots, p->count, hash_of_node, p) < 0)
		return -ENOMEM;
	for (slot = slots_first(&p->slots, slots_hash(states, bytes)); p->slots.at[slot];
	     slot = slots_next(&p->slots, slot))
		if (memcmp(product_states(p, p->slots.at[slot] - 1), states, bytes) == 0)
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

	return add_node(p, states, step, &p->now);
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

/* Of strings of equal length people read those of letters best. */
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

/* Nodes are appended to the level while this runs. */
static int visit_level(struct product *p, product_visitor *visit, void *context)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->now.count; i++) {
		uint32_t node = p->now.nodes[i];

		if (p->steps[node].visited)
			continue;
		p->steps[node].visited = true;
		r = visit(context, p, node);
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
