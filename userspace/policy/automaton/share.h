/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one node of those that say the same of whatever follows. The trie shares what patterns
 * begin with; this shares what they end with. Without it the endings of "*-{cc,ld,as}-*" would be
 * one set of nodes per alternative, and a state would have to tell which of them a name has met so
 * far: 2^n states that say the same.
 */
#ifndef CORDON_POLICY_SHARE_H
#define CORDON_POLICY_SHARE_H

#include "policy/automaton/nfa.h"

/*
 * The same automaton in fewer nodes, numbered so that only a node itself and those with higher
 * numbers are reached from it. Nothing can be added to it any more. -ENOMEM.
 */
int nfa_share(const struct nfa *n, struct nfa **ret_shared);

#endif
