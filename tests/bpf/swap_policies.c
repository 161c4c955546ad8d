// SPDX-License-Identifier: Apache-2.0
/*
 * Swaps the policies of all live executions with each other as fast as possible, until its input
 * ends. Each execution gets the next one's policy, so that every policy stays active somewhere.
 * Prints the number of swaps.
 *
 * Writes to the pinned map without the daemon, by the same single write.
 */
#include <bpf/bpf.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "kernel/enforcement.h"
#include "kernel/pins.h"

#define MOST	   64
#define AT_A_TIME  200
#define REFS_LEAST 2

static unsigned int find_live(struct cordon_execution *executions, __u64 **ret_policies)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < CORDON_MAX_EXECUTIONS && count < MOST; i++)
		if (executions[i].state == CORDON_EXECUTION_LIVE)
			ret_policies[count++] = &executions[i].policy;
	return count;
}

static bool differ(const __u64 *policies, unsigned int count)
{
	for (unsigned int i = 1; i < count; i++)
		if (policies[i] != policies[0])
			return true;
	return false;
}

int main(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	struct cordon_execution *executions;
	__u64 *places[MOST], policies[MOST];
	unsigned long swaps = 0;
	unsigned int count;
	int fd = pin_get(PIN_MAPS, "executions");

	if (fd < 0)
		return 2;
	executions = mmap(NULL, CORDON_MAX_EXECUTIONS * sizeof(*executions), PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	if (executions == MAP_FAILED)
		return 2;
	count = find_live(executions, places);
	for (unsigned int i = 0; i < count; i++)
		policies[i] = *places[i];
	if (count < REFS_LEAST || !differ(policies, count))
		return 3;
	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 0) == 0)
		for (int i = 0; i < AT_A_TIME; i++, swaps++)
			for (unsigned int n = 0; n < count; n++)
				__atomic_store_n(places[n], policies[(n + swaps) % count],
						 __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < count; i++)
		__atomic_store_n(places[i], policies[i], __ATOMIC_RELEASE);
	printf("%lu swaps\n", swaps);
	return 0;
}
