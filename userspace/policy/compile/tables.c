/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a compiled policy as one block of bytes, in the layout of bpf/abi.h. */
#include "policy/compile/tables.h"

#include <string.h>

#include "base/sha256.h"
#include "policy/automaton/finals.h"
#include "policy/compile/pack.h"

/* Sections start on multiples of the largest element. */
#define ALIGNMENT 64u

_Static_assert(ALIGNMENT % sizeof(struct cordon_verdict) == 0 &&
		       ALIGNMENT % sizeof(struct cordon_final) == 0 &&
		       ALIGNMENT % sizeof(struct cordon_edge) == 0 &&
		       ALIGNMENT % sizeof(struct cordon_state) == 0 &&
		       CORDON_PAGE_SIZE % ALIGNMENT == 0,
	       "an element of a table would straddle a page");

struct section {
	const void *data;
	size_t count, size; /* number of elements, size of one */
	uint32_t offset;
};

int tables_digest(const unsigned char *tables, size_t size, unsigned char ret_digest[32])
{
	static const unsigned char zero[32];
	_cleanup_(sha256_freep) struct sha256 *h = sha256_new();
	size_t at = offsetof(struct cordon_policy_header, digest);
	int r;

	if (!h)
		return -ENOMEM;
	r = sha256_update(h, tables, at);
	if (r == 0)
		r = sha256_update(h, zero, sizeof(zero));
	if (r == 0)
		r = sha256_update(h, tables + at + sizeof(zero), size - at - sizeof(zero));
	return r < 0 ? r : sha256_finish(h, ret_digest);
}

static int lay_out(struct section *sections, size_t count, uint32_t *ret_pages)
{
	uint64_t offset = sizeof(struct cordon_policy_header);

	for (size_t i = 0; i < count; i++) {
		offset = (offset + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
		if (offset > (uint64_t)CORDON_MAX_PAGES * CORDON_PAGE_SIZE)
			return -E2BIG;
		sections[i].offset = (uint32_t)offset;
		offset += (uint64_t)sections[i].count * sections[i].size;
	}
	if (offset > (uint64_t)CORDON_MAX_PAGES * CORDON_PAGE_SIZE)
		return -E2BIG;
	*ret_pages = (uint32_t)((offset + CORDON_PAGE_SIZE - 1) / CORDON_PAGE_SIZE);
	return 0;
}

/* True if a rule allows connecting to a host name. */
static bool allows_hosts(const struct model *m)
{
	for (size_t i = 0; i < m->rule_count; i++)
		if (m->rules[i]->host_count && !m->rules[i]->deny)
			return true;
	return false;
}

/* True if a rule that denies names has a severity or tags. */
static bool marks_names(const struct model *m)
{
	for (size_t i = 0; i < m->rule_count; i++)
		if (m->rules[i]->deny && m->rules[i]->name_count &&
		    (m->rules[i]->severity || m->rules[i]->tag_count))
			return true;
	return false;
}

static void fill_header(struct cordon_policy_header *h, const struct automaton *a,
			const struct model *m)
{
	h->magic = CORDON_POLICY_MAGIC;
	h->version = CORDON_POLICY_VERSION;
	h->flags = m->flags | (m->observe ? CORDON_POLICY_OBSERVE : 0) |
		   (allows_hosts(m) ? CORDON_POLICY_HOSTS : 0) |
		   (marks_names(m) ? CORDON_POLICY_ATTEMPTS : 0);
	for (unsigned int i = 0; i < CORDON_START_SLOTS; i++) {
		uint32_t s = i < CORDON_START_COUNT ? a->start[i] : 0;

		h->start[i] = automaton_is_absorbing(a, s) ? s | CORDON_ABSORBING : s;
	}
	h->capabilities = m->capabilities;
	h->audit = m->audit;
	h->denial_limit = m->denial_limit;
	h->ask_msec = m->ask_msec;
	h->log_rate = m->log_rate;
}

static int assemble(const struct automaton *a, const struct model *m, uint32_t anchors_used,
		    const struct packed *packed, const struct cordon_final *finals,
		    unsigned char **ret_tables, size_t *ret_size)
{
	struct section sections[] = {
		{packed->states, a->state_count, sizeof(*packed->states), 0},
		{packed->edges, packed->edge_count, sizeof(*packed->edges), 0},
		{finals, a->state_count, sizeof(*finals), 0},
		{a->verdicts, a->verdict_count, sizeof(*a->verdicts), 0},
	};
	struct cordon_policy_header header = {.anchors_used = anchors_used};
	_cleanup_(freep) unsigned char *tables = NULL;
	size_t size;
	int r = lay_out(sections, ARRAY_SIZE(sections), &header.pages);

	if (r < 0)
		return r;
	fill_header(&header, a, m);
	header.states_offset = sections[0].offset;
	header.states_count = (uint32_t)sections[0].count;
	header.edges_offset = sections[1].offset;
	header.edges_count = (uint32_t)sections[1].count;
	header.finals_offset = sections[2].offset;
	header.finals_count = (uint32_t)sections[2].count;
	header.verdicts_offset = sections[3].offset;
	header.verdicts_count = (uint32_t)sections[3].count;
	size = (size_t)header.pages * CORDON_PAGE_SIZE;
	tables = calloc(1, size);
	if (!tables)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		memcpy(tables + sections[i].offset, sections[i].data,
		       sections[i].count * sections[i].size);
	memcpy(tables, &header, sizeof(header));
	r = tables_digest(tables, size, header.digest);
	if (r < 0)
		return r;
	memcpy(tables, &header, sizeof(header));
	*ret_tables = TAKE_PTR(tables);
	*ret_size = size;
	return 0;
}

int tables_build(const struct automaton *a, const struct model *m, uint32_t anchors_used,
		 unsigned char **ret_tables, size_t *ret_size)
{
	_cleanup_(packed_release) struct packed packed = {0};
	_cleanup_(freep) struct cordon_final *finals = NULL;
	size_t room = (size_t)CORDON_MAX_PAGES * CORDON_PAGE_SIZE;
	int r = finals_compute(a, &finals);

	if (r == 0)
		r = pack_automaton(a, room / sizeof(struct cordon_edge), &packed);
	if (r == 0)
		r = assemble(a, m, anchors_used, &packed, finals, ret_tables, ret_size);
	return r;
}
