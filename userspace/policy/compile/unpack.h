/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the tables of a compiled policy back to an automaton. */
#ifndef CORDON_POLICY_UNPACK_H
#define CORDON_POLICY_UNPACK_H

#include "policy/automaton/automaton.h"
#include "policy/core/compiled.h"

/*
 * Makes the smallest automaton of the tables' allowed and denied `rights` (CORDON_RIGHT() bits).
 * Rule numbers are left out (CORDON_NO_RULE everywhere), so it is much smaller than the policy's
 * automaton. The tables must have passed policy_tables_check(). -ENOMEM.
 */
int automaton_of_rights(const struct compiled_policy *policy, uint32_t rights,
			struct automaton **ret_automaton);

/* The same with the numbers of allow rules; the numbers of deny rules are left out. -ENOMEM. */
int automaton_of_rules(const struct compiled_policy *policy, uint32_t rights,
		       struct automaton **ret_automaton);

#endif
