/* SPDX-License-Identifier: Apache-2.0 */
/* Which states of two automata grant and deny the same of whatever may follow. */
#ifndef CORDON_POLICY_ALIKE_H
#define CORDON_POLICY_ALIKE_H

#include <stdbool.h>

#include "policy/automaton/automaton.h"

struct alike {
	uint32_t *class_of; /* owned; per state of the first automaton, then of the second */
	uint32_t second;    /* where those of the second begin */
};

/*
 * By refining the partition of the states of both; which rules decide is left aside. -ENOMEM.
 * Caller releases.
 */
int alike_compare(const struct automaton *a, const struct automaton *b, struct alike *ret_alike);

void alike_release(struct alike *alike);

static inline bool alike_states(const struct alike *alike, uint32_t of_a, uint32_t of_b)
{
	return alike->class_of[of_a] == alike->class_of[alike->second + of_b];
}

#endif
