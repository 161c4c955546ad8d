/* SPDX-License-Identifier: Apache-2.0 */
/* How an execution ended, for a reader who knows nothing of exit codes. */
#ifndef CORDON_INSIGHT_OUTCOME_H
#define CORDON_INSIGHT_OUTCOME_H

#include <jansson.h>
#include <stdbool.h>

struct outcome {
	const char *phrase; /* why it was ended, or never ran; NULL: it came to an end of its own */
	const char *signal; /* the record's; NULL: none */
	unsigned long long code;
	bool alone; /* it came to its own end while no daemon ran */
	bool good;
};

/* Of an execution-end record, whose text it keeps, or NULL: there is no end yet. */
/*
 * "memory, processes": limits that the execution's processes ran into, or that may have stopped
 * them; NULL: none is on record, or no memory. Caller frees.
 */
char *outcome_limits(const json_t *end);

struct outcome outcome_of(const json_t *end);

#endif
