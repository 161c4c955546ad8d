/* SPDX-License-Identifier: Apache-2.0 */
/* Describes how an execution ended, for readers who do not know exit codes. */
#ifndef CORDON_INSIGHT_OUTCOME_H
#define CORDON_INSIGHT_OUTCOME_H

#include <jansson.h>
#include <stdbool.h>

struct outcome {
	const char *phrase; /* why it was killed or never ran; NULL: it exited by itself */
	const char *signal; /* from the record; NULL: none */
	unsigned long long code;
	bool alone; /* it exited while no daemon ran */
	bool good;
};

/*
 * Returns "memory, processes": limits that the execution reached, or that may have stopped it. The
 * caller frees it; NULL if none is logged, or if out of memory.
 */
char *outcome_limits(const json_t *end);

/* Returns the result in an execution-end record, which must outlive it; NULL: no end yet. */
struct outcome outcome_of(const json_t *end);

#endif
