/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops members of a subset that cannot affect a verdict any more. Below a name where a rule
 * decides every continuation, rules of lower priority need no states.
 *
 * Otherwise n rules such as "deny **", slash and a name would make 2^n states: one for each set of
 * rules that has matched so far.
 */
#ifndef CORDON_POLICY_SETTLE_H
#define CORDON_POLICY_SETTLE_H

#include "policy/automaton/nfa.h"

/* There is no such rule. */
#define UNSETTLED 0xffffffffu

struct settling {
	const struct nfa *nfa;
	struct prospect *prospects; /* per node */
	uint32_t *settled_by;	    /* per node: the rule that made it irrelevant, or UNSETTLED */
};

/* Computes the prospects of every node. -ENOMEM; in either case release with settling_release(). */
int settling_init(struct settling *l, const struct nfa *n);
void settling_release(struct settling *l);

/* Removes the irrelevant nodes from a subset. */
void settling_drop(struct settling *l, uint32_t *members, size_t *count);

#endif
