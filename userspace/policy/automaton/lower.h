/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the rules of a model to the nondeterministic automaton over the input format of
 * bpf/abi.h.
 */
#ifndef CORDON_POLICY_LOWER_H
#define CORDON_POLICY_LOWER_H

#include "policy/source/model.h"
#include "policy/automaton/nfa.h"

/*
 * Errors in patterns are reported in `d`. *ret_anchors: bit n is set if a rule contains anchor n.
 * -EINVAL: reported; -ENOMEM; -E2BIG: more than NFA_NODES_MAX nodes.
 */
int lower_rules(struct arena *a, const struct model *m, struct diagnostics *d, struct nfa **ret_nfa,
		uint32_t *ret_anchors);

#endif
