/* SPDX-License-Identifier: Apache-2.0 */
/* Bound executions that the kernel hands to children of executors, without asking anybody. */
#include <string.h>

#include "base/uuid.h"
#include "daemon/executor/executors_parts.h"

void standby_give_back(struct executors *x, uint32_t index)
{
	const struct cordon_executor *kernel = adoption_entry(x->adoption, index);

	for (size_t i = 0; i < CORDON_MAX_STANDBY; i++) {
		uint64_t place = __atomic_load_n(&kernel->standby[i], __ATOMIC_ACQUIRE);
		uint32_t slot = (uint32_t)place;

		if (place && adoption_withdraw(x->adoption, index, slot, (uint32_t)(place >> 32)))
			(void)enforcement_release(x->daemon->enforcement, slot);
	}
}

static int bind_one(struct executors *x, const struct executor_entry *entry)
{
	struct enforcement *enforcement = x->daemon->enforcement;
	struct enforcement_binding binding = {
		.policy = entry->policy->ref,
		.executor = entry->index + 1,
	};
	uint32_t slot;
	int r;

	memcpy(binding.anchors, entry->anchors, sizeof(binding.anchors));
	r = uuid_generate_v7(binding.id);
	if (r < 0)
		return r;
	r = enforcement_bind(enforcement, &binding, &slot);
	if (r < 0)
		return r;
	if (adoption_offer(x->adoption, entry->index, slot,
			   enforcement_execution(enforcement, slot)->generation))
		return 0;
	(void)enforcement_release(enforcement, slot);
	return -ENOSPC;
}

void standby_refill(struct executors *x, const struct executor_entry *entry)
{
	const struct cordon_executor *kernel = adoption_entry(x->adoption, entry->index);
	size_t missing = 0;

	if (entry->waits || entry->why)
		return;
	for (size_t i = 0; i < CORDON_MAX_STANDBY; i++)
		missing += __atomic_load_n(&kernel->standby[i], __ATOMIC_ACQUIRE) == 0;
	while (missing-- > 0)
		if (bind_one(x, entry) < 0)
			return;
}
