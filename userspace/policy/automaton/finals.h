/* SPDX-License-Identifier: Apache-2.0 */
/* What an automaton's states say of all names that continue from them. */
#ifndef CORDON_POLICY_FINALS_H
#define CORDON_POLICY_FINALS_H

#include "policy/automaton/automaton.h"

/* An array of state_count finals, see struct cordon_final; caller frees. -ENOMEM. */
int finals_compute(const struct automaton *a, struct cordon_final **ret_finals);

/* No byte leads out of the state. */
bool automaton_is_absorbing(const struct automaton *a, uint32_t state);

#endif
