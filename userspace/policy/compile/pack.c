/* SPDX-License-Identifier: Apache-2.0 */
/* Packs transitions by row displacement, see bpf/abi.h. */
#include "policy/compile/pack.h"

#include <string.h>

#include "policy/automaton/finals.h"
#include "policy/core/vector.h"

#define UNUSED 0xffffffffu

/* After this many misses, rows of the same size are not tried again in that part of the edges. */
#define ATTEMPTS_MAX 512

struct row {
	uint32_t state, exceptions;
};

struct packer {
	const struct automaton *a;
	struct packed packed;
	uint32_t *next_free; /* per edge: itself if free, else a later one (path-compressed) */
	size_t next_capacity;
	size_t edges_max;
	uint32_t *bytes_to; /* per state: bytes of the current row that lead there, else 0 */
	uint32_t hint;	    /* where to start the search for rows of the current size */
	/* the current row: bytes that do not lead to `otherwise`, ascending */
	uint8_t bytes[256];
	uint32_t targets[256];
	size_t count;
	uint32_t otherwise;
};

void packed_release(struct packed *p)
{
	free(p->states);
	free(p->edges);
}

static void packer_release(struct packer *p)
{
	packed_release(&p->packed);
	free(p->next_free);
	free(p->bytes_to);
}

static uint32_t reference(const struct automaton *a, uint32_t state)
{
	return automaton_is_absorbing(a, state) ? state | CORDON_ABSORBING : state;
}

/*
 * The target of most bytes; among equals the lowest number. *ret_exceptions: how many bytes do not
 * lead there.
 */
static uint32_t find_otherwise(struct packer *p, uint32_t state, uint32_t *ret_exceptions)
{
	const struct automaton *a = p->a;
	uint32_t best = 0, best_bytes = 0;
	unsigned int from = 0;

	for (uint32_t i = a->first[state]; i < a->first[state + 1]; i++) {
		uint32_t target = a->segments[i].target;
		uint32_t bytes = p->bytes_to[target] += a->segments[i].last + 1u - from;

		from = a->segments[i].last + 1u;
		if (bytes > best_bytes || (bytes == best_bytes && target < best)) {
			best = target;
			best_bytes = bytes;
		}
	}
	for (uint32_t i = a->first[state]; i < a->first[state + 1]; i++)
		p->bytes_to[a->segments[i].target] = 0;
	*ret_exceptions = 256 - best_bytes;
	return best;
}

static void read_row(struct packer *p, uint32_t state)
{
	const struct automaton *a = p->a;
	unsigned int byte = 0;
	uint32_t exceptions;

	p->otherwise = find_otherwise(p, state, &exceptions);
	p->count = 0;
	for (uint32_t i = a->first[state]; i < a->first[state + 1]; i++) {
		if (a->segments[i].target == p->otherwise)
			byte = a->segments[i].last + 1u;
		for (; byte <= a->segments[i].last; byte++) {
			p->bytes[p->count] = (uint8_t)byte;
			p->targets[p->count++] = a->segments[i].target;
		}
	}
}

static int extend(struct packer *p, size_t count)
{
	if (count <= p->packed.edge_count)
		return 0;
	if (count > p->edges_max)
		return -E2BIG;
	if (vector_reserve(&p->packed.edges, &p->packed.edge_capacity, count) < 0 ||
	    vector_reserve(&p->next_free, &p->next_capacity, count + 1) < 0)
		return -ENOMEM;
	for (size_t i = p->packed.edge_count; i < count; i++) {
		p->packed.edges[i] = (struct cordon_edge){UNUSED, CORDON_STATE_DEAD};
		p->next_free[i] = (uint32_t)i;
	}
	p->next_free[count] = (uint32_t)count;
	p->packed.edge_count = count;
	return 0;
}

/* The first free edge at or after `place`; edge_count if there is none. */
static uint32_t find_free(struct packer *p, uint32_t place)
{
	uint32_t found = place, next;

	if (place >= p->packed.edge_count)
		return (uint32_t)p->packed.edge_count;
	while (p->next_free[found] != found)
		found = p->next_free[found];
	for (; place != found; place = next) {
		next = p->next_free[place];
		p->next_free[place] = found;
	}
	return found;
}

static bool fits(const struct packer *p, uint32_t base)
{
	for (size_t i = 0; i < p->count; i++)
		if (base + p->bytes[i] < p->packed.edge_count &&
		    p->packed.edges[base + p->bytes[i]].check != UNUSED)
			return false;
	return true;
}

static uint32_t find_base(struct packer *p)
{
	uint32_t place = find_free(p, p->hint > p->bytes[0] ? p->hint : p->bytes[0]);

	for (unsigned int attempts = 1; place < p->packed.edge_count; attempts++) {
		if (fits(p, place - p->bytes[0]))
			break;
		if (attempts % ATTEMPTS_MAX == 0)
			p->hint = place;
		place = find_free(p, place + 1);
	}
	return place - p->bytes[0];
}

static int place_row(struct packer *p, uint32_t state)
{
	uint32_t base = 0;
	int r;

	read_row(p, state);
	if (p->count)
		base = find_base(p);
	r = extend(p, (size_t)base + 256);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->count; i++) {
		uint32_t place = base + p->bytes[i];

		p->packed.edges[place] =
			(struct cordon_edge){state, reference(p->a, p->targets[i])};
		p->next_free[place] = place + 1;
	}
	p->packed.states[state] = (struct cordon_state){base, reference(p->a, p->otherwise)};
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->exceptions != y->exceptions)
		return x->exceptions > y->exceptions ? -1 : 1;
	return x->state < y->state ? -1 : 1;
}

int pack_automaton(const struct automaton *a, size_t edges_max, struct packed *ret_packed)
{
	_cleanup_(packer_release) struct packer p = {.a = a, .edges_max = edges_max};
	_cleanup_(freep) struct row *rows = calloc(a->state_count, sizeof(*rows));
	int r = extend(&p, 256);

	p.packed.states = calloc(a->state_count, sizeof(*p.packed.states));
	p.bytes_to = calloc(a->state_count, sizeof(*p.bytes_to));
	if (!rows || !p.packed.states || !p.bytes_to)
		return -ENOMEM;
	for (uint32_t s = 0; s < a->state_count; s++) {
		rows[s].state = s;
		(void)find_otherwise(&p, s, &rows[s].exceptions);
	}
	/*
	 * Rows with many edges are placed first, while there is room; rows with a single edge fill
	 * the gaps at the end.
	 */
	qsort(rows, a->state_count, sizeof(*rows), compare_rows);
	for (uint32_t i = 0; r == 0 && i < a->state_count; i++) {
		if (i && rows[i].exceptions != rows[i - 1].exceptions)
			p.hint = 0;
		r = place_row(&p, rows[i].state);
	}
	if (r < 0)
		return r;
	*ret_packed = p.packed;
	p.packed = (struct packed){0};
	return 0;
}
