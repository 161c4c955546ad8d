/* SPDX-License-Identifier: Apache-2.0 */
/* listns(2), of mount namespaces. */
#ifndef CORDON_TESTS_REDTEAM_NAMESPACE_LIST_H
#define CORDON_TESTS_REDTEAM_NAMESPACE_LIST_H

#include <linux/types.h>
#include <sched.h>

#include "tests/redteam/attack.h"
#include "tests/redteam/newer_calls.h"

#define MOST_NAMESPACES 256

struct namespace_request {
	__u32 size;
	__u32 spare;
	__u64 after;
	__u32 type;
	__u32 spare2;
	__u64 user_namespace;
};

/* How many, or -1. */
static inline long list_namespaces(__u64 numbers[MOST_NAMESPACES])
{
	const struct namespace_request request = {.size = sizeof(request), .type = CLONE_NEWNS};

	return syscall(CALL_LISTNS, &request, numbers, MOST_NAMESPACES, 0);
}

#endif
