/* SPDX-License-Identifier: Apache-2.0 */
/* Packs transitions by row displacement, see bpf/abi.h. */
#ifndef CORDON_POLICY_PACK_H
#define CORDON_POLICY_PACK_H

#include "policy/automaton/automaton.h"

struct packed {
	struct cordon_state *states; /* state_count of the automaton */
	struct cordon_edge *edges;
	size_t edge_count, edge_capacity;
};

void packed_release(struct packed *p);

/* -ENOMEM; -E2BIG: more than `edges_max` edges. */
int pack_automaton(const struct automaton *a, size_t edges_max, struct packed *ret_packed);

#endif
