/* SPDX-License-Identifier: Apache-2.0 */
/* Which rules still decide something where the runs of one question are combined. */
#ifndef CORDON_POLICY_EFFECT_H
#define CORDON_POLICY_EFFECT_H

#include "policy/automaton/automaton.h"

/*
 * Takes `decides` away from rules that decide in a run over names, but nothing once the verdicts of
 * START_PATH and START_FLOATING are put together, and says which rule decides in their place. Rules
 * about what is too much to look at keep theirs. -ENOMEM.
 */
int effect_of_combination(const struct automaton *a, struct rule_use *use, size_t rule_count);

#endif
