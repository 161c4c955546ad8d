/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the bytes of records that one execution has written. */
#include "daemon/execution/log_budget.h"

#include "base/clock.h"

#define BURST_SECONDS 8u
/* Of a second's worth, once it is used up. */
#define AWAITED_PART 4u

uint64_t log_budget_rate(const struct cordon_policy_header *header)
{
	if (header->log_rate == CORDON_LOG_RATE_NONE)
		return UINT64_MAX;
	if (header->log_rate > 0)
		return (uint64_t)header->log_rate << 10;
	return header->flags & CORDON_POLICY_OBSERVE ? LOG_RATE_OBSERVED : LOG_RATE_DEFAULT;
}

/* Events may arrive out of order, from two rings: time does not go back. */
static void refill(struct log_budget *budget, uint64_t rate, uint64_t time)
{
	int64_t most = (int64_t)(rate * BURST_SECONDS);
	uint64_t passed = time > budget->time ? time - budget->time : 0;

	if (budget->time == 0 || passed >= BURST_SECONDS * 2 * NSEC_PER_SEC) {
		budget->left = most;
	} else {
		/* Rates are below 2^42, and so is what passes in microseconds below 2^25. */
		budget->left += (int64_t)(rate * (passed / 1000) / 1000000);
		if (budget->left > most)
			budget->left = most;
		/* What is left of a microsecond counts with the next event. */
		passed -= passed % 1000;
	}
	if (budget->time == 0)
		budget->time = time;
	else
		budget->time += passed;
}

bool log_budget_has_room(struct log_budget *budget, uint64_t rate, uint64_t time)
{
	if (rate == UINT64_MAX)
		return true;
	refill(budget, rate, time);
	if (budget->left <= 0)
		budget->used_up = true;
	else if (budget->left > (int64_t)(rate / AWAITED_PART))
		budget->used_up = false;
	return !budget->used_up;
}

void log_budget_charge(struct log_budget *budget, size_t size)
{
	budget->left -= (int64_t)size;
}
