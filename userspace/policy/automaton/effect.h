/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rules that still decide at least one access once the runs over a name are combined. */
#ifndef CORDON_POLICY_EFFECT_H
#define CORDON_POLICY_EFFECT_H

#include "policy/automaton/automaton.h"

/*
 * Clears `decides` for rules that decide in a single run but not in the combined verdict of
 * START_PATH and START_FLOATING. Sets the rule that decides in their place. If there are too many
 * combinations to search, rules keep `decides`. -ENOMEM.
 */
int effect_of_combination(const struct automaton *a, struct rule_use *use, size_t rule_count);

#endif
