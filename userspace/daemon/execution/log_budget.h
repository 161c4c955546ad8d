/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many bytes of records one execution may have written: a token bucket. Records of denials are
 * as long as the names that the code chooses, so that a number of events is no bound.
 */
#ifndef CORDON_DAEMON_LOG_BUDGET_H
#define CORDON_DAEMON_LOG_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

/* Bytes a second without `audit: {rate: ...}`: where accesses are denied; where all are logged. */
#define LOG_RATE_DEFAULT  (1u << 20)
#define LOG_RATE_OBSERVED (16u << 20)

struct log_budget {
	uint64_t time; /* of the last event, boot clock, ns; 0: there was none */
	int64_t left;  /* bytes; below 0: owed */
	bool used_up;  /* and a part of it is awaited, so that few gaps come of it */
};

/* Bytes a second under a policy; UINT64_MAX: no limit. */
uint64_t log_budget_rate(const struct cordon_policy_header *header);

/* Is there room for the record of an event of this time? Bursts may take eight seconds' worth. */
bool log_budget_has_room(struct log_budget *budget, uint64_t rate, uint64_t time);

/* That record is so long: its escapes are counted. */
void log_budget_charge(struct log_budget *budget, size_t size);

#endif
