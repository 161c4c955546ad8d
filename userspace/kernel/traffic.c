/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic of an execution by destination, as counted by the programs at the cgroup. */
#include <bpf/bpf.h>

#include "kernel/handle.h"
#include "kernel/traffic.h"

static uint32_t destinations(const struct cordon_execution *execution)
{
	return __atomic_load_n(&execution->destinations, __ATOMIC_ACQUIRE);
}

int enforcement_traffic(struct enforcement *e, uint32_t slot, struct cordon_traffic *ret_traffic)
{
	struct cordon_traffic_key key = {.slot = slot};
	int count = 0;

	if (slot >= CORDON_MAX_EXECUTIONS)
		return -EINVAL;
	if (destinations(&e->executions[slot]) == 0)
		return 0;
	for (key.index = 0; key.index < CORDON_MAX_DESTINATIONS; key.index++) {
		struct cordon_traffic *found = &ret_traffic[count];

		if (bpf_map_lookup_elem(e->traffic_fd, &key, found) < 0) {
			if (errno != ENOENT)
				return -errno;
			continue;
		}
		count += found->generation == e->executions[slot].generation;
	}
	return count;
}

void traffic_forget(struct enforcement *e, uint32_t slot)
{
	struct cordon_traffic_key key = {.slot = slot};

	if (destinations(&e->executions[slot]) == 0)
		return;
	for (key.index = 0; key.index < CORDON_MAX_DESTINATIONS; key.index++)
		(void)bpf_map_delete_elem(e->traffic_fd, &key);
}
