/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges nodes that give the same verdicts for every continuation. The trie shares the prefixes of
 * patterns, and this step shares their suffixes.
 *
 * Otherwise the suffixes of "*-{cc,ld,as}-*" would be a separate set of nodes per alternative. The
 * states would distinguish which alternatives have matched so far: 2^n equivalent states.
 */
#ifndef CORDON_POLICY_SHARE_H
#define CORDON_POLICY_SHARE_H

#include "policy/automaton/nfa.h"

/*
 * Makes the same automaton with fewer nodes. A node only leads to itself and to nodes with higher
 * numbers. No nodes can be added to the result. -ENOMEM.
 */
int nfa_share(const struct nfa *n, struct nfa **ret_shared);

#endif
