/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the states of two automata that grant and deny the same for every continuation. */
#ifndef CORDON_POLICY_ALIKE_H
#define CORDON_POLICY_ALIKE_H

#include <stdbool.h>

#include "policy/automaton/automaton.h"

struct alike {
	uint32_t *class_of; /* owned; per state of the first automaton, then of the second */
	uint32_t second;    /* number of the second automaton's first state */
};

/*
 * Refines the partition of the states of both automata; deciding rules are not compared. -ENOMEM.
 * Caller releases.
 */
int alike_compare(const struct automaton *a, const struct automaton *b, struct alike *ret_alike);

void alike_release(struct alike *alike);

static inline bool alike_states(const struct alike *alike, uint32_t of_a, uint32_t of_b)
{
	return alike->class_of[of_a] == alike->class_of[alike->second + of_b];
}

#endif
