/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of a subset that can no longer matter: below a name for which a rule decides whatever
 * follows, other rules of less weight are not worth a state. Without this, n rules such as "deny
 * **", slash and a name would make 2^n states: one for each set of them that has matched so far.
 */
#ifndef CORDON_POLICY_SETTLE_H
#define CORDON_POLICY_SETTLE_H

#include "policy/automaton/nfa.h"

/* No rule. */
#define UNSETTLED 0xffffffffu

struct settling {
	const struct nfa *nfa;
	struct prospect *prospects; /* per node */
	uint32_t *settled_by;	    /* per node: the rule for which it was dropped, or UNSETTLED */
};

/* Looks ahead from every node. -ENOMEM; in either case release with settling_release(). */
int settling_init(struct settling *l, const struct nfa *n);
void settling_release(struct settling *l);

/* Takes the nodes that no longer matter out of a subset. */
void settling_drop(struct settling *l, uint32_t *members, size_t *count);

#endif
