/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The matcher: one deterministic automaton run over a byte string.
 *
 * Plain C without library calls, so that the kernel programs, the command line's `explain` and
 * the fuzzers run the same lines. The caller provides table_at(), which returns the object at a
 * byte offset of a compiled policy, or NULL. Objects never straddle a page (abi.h).
 */
#ifndef CORDON_BPF_MATCHER_H
#define CORDON_BPF_MATCHER_H

#include "bpf/abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* A table of a compiled policy, as the header describes it. */
struct matcher {
	__u32 states_offset;
	__u32 states_count;
	__u32 edges_offset;
	__u32 edges_count;
};

/*
 * The part that differs: the kernel finds a page of an inner map, userspace indexes a blob.
 * `tables` is private to each side. Must return NULL for an offset outside the policy.
 */
static __always_inline const void *table_at(void *tables, __u32 offset, __u32 size);

/*
 * Runs one step. Returns the next state reference, or CORDON_STATE_BROKEN if the tables are
 * damaged. Callers must then deny all rights.
 */
#define CORDON_STATE_BROKEN 0xffffffffu

static __always_inline __u32 matcher_step(void *tables, const struct matcher *m, __u32 state,
					  __u8 byte)
{
	const struct cordon_state *row;
	const struct cordon_edge *edge;
	__u32 number = state & CORDON_STATE_MASK;
	__u32 index, otherwise;

	if (number >= m->states_count)
		return CORDON_STATE_BROKEN;
	row = table_at(tables, m->states_offset + number * (__u32)sizeof(*row), sizeof(*row));
	if (!row)
		return CORDON_STATE_BROKEN;
	otherwise = row->otherwise;
	index = row->base + byte;
	if (index >= m->edges_count)
		return CORDON_STATE_BROKEN;
	edge = table_at(tables, m->edges_offset + index * (__u32)sizeof(*edge), sizeof(*edge));
	if (!edge)
		return CORDON_STATE_BROKEN;
	return edge->check == number ? edge->next : otherwise;
}

/*
 * One step for a policy of one page, as nearly all policies are. Each offset is taken modulo the
 * page, so that damaged tables cannot lead outside of it. The loader rejects damaged tables
 * (userspace/policy/compile/unpack.h).
 */
#define MATCHER_PAGE_MASK (CORDON_PAGE_SIZE - (__u32)sizeof(struct cordon_state))

static __always_inline __u32 matcher_step_in_page(const __u8 *page, const struct matcher *m,
						  __u32 state, __u8 byte)
{
	const struct cordon_state *row;
	const struct cordon_edge *edge;
	__u32 number = state & CORDON_STATE_MASK, at;

	at = m->states_offset + number * (__u32)sizeof(*row);
	row = (const struct cordon_state *)(page + (at & MATCHER_PAGE_MASK));
	at = m->edges_offset + (row->base + byte) * (__u32)sizeof(*edge);
	edge = (const struct cordon_edge *)(page + (at & MATCHER_PAGE_MASK));
	return edge->check == number ? edge->next : row->otherwise;
}

#endif
