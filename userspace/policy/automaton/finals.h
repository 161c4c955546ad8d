/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the possible verdicts of all names that continue from an automaton's state. */
#ifndef CORDON_POLICY_FINALS_H
#define CORDON_POLICY_FINALS_H

#include "policy/automaton/automaton.h"

/* Returns an array of state_count finals, see struct cordon_final. Caller frees. -ENOMEM. */
int finals_compute(const struct automaton *a, struct cordon_final **ret_finals);

/* No byte leads out of the state. */
bool automaton_is_absorbing(const struct automaton *a, uint32_t state);

#endif
