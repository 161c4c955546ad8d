/* SPDX-License-Identifier: Apache-2.0 */
/* From the tables of a compiled policy back to an automaton. */
#ifndef CORDON_POLICY_UNPACK_H
#define CORDON_POLICY_UNPACK_H

#include "policy/automaton/automaton.h"
#include "policy/core/compiled.h"

/*
 * The smallest automaton with those of `rights` (CORDON_RIGHT() bits) that a policy's tables allow
 * and deny; which rule decides is left out (CORDON_NO_RULE throughout), so that it is far smaller
 * than the policy's own. The tables must have passed policy_tables_check(). -ENOMEM.
 */
int automaton_of_rights(const struct compiled_policy *policy, uint32_t rights,
			struct automaton **ret_automaton);

/* The same with the rules that decide what is allowed; those that deny are left out. -ENOMEM. */
int automaton_of_rules(const struct compiled_policy *policy, uint32_t rights,
		       struct automaton **ret_automaton);

#endif
