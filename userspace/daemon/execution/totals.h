/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon has seen since it started, summed over executions: for whoever watches a host,
 * not one execution. Numbers only grow while the daemon lives, and begin at 0 with the next one.
 */
#ifndef CORDON_DAEMON_TOTALS_H
#define CORDON_DAEMON_TOTALS_H

#include <jansson.h>
#include <stdint.h>

#include "audit/record/record.h"

struct cordon_execution;

#define TOTALS_CAUSES (AUDIT_END_NOT_STARTED + 1)

struct totals {
	uint64_t started;	       /* start records */
	uint64_t refused;	       /* executions that were asked for, and did not start */
	uint64_t ended[TOTALS_CAUSES]; /* end records, by enum audit_end_cause */
	uint64_t gaps;		       /* gap records of executions */
	uint64_t missing;	       /* events that these say are missing */
	uint64_t attempts;	       /* on record, of all executions */
	/* Of executions that have ended; those of live ones the kernel counts. */
	uint64_t denials, would_denials, events, coalesced, limited, dropped, packets_denied;
};

/* An execution has ended and is not to be looked at any more: what its end record says. */
void totals_add_end(struct totals *totals, const struct audit_end *end);

/* What the kernel has counted so far for an execution that has not ended. */
void totals_add_live(struct totals *totals, const struct cordon_execution *view);

/* Events behind `after` and before `before` never came. */
void totals_add_gap(struct totals *totals, uint64_t after, uint64_t before);

/* As `cordon status` has it. New reference, or NULL without memory. */
json_t *totals_json(const struct totals *totals);

#endif
