// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: lists the namespaces that the host has
 * Hook: seccomp
 * Errno: EPERM
 * Control: uses its own file
 * Record: system-call listns
 * As: root+filter user+filter
 * Needs: listns
 */
#include "tests/redteam/namespace_list.h"

static int attack(void)
{
	__u64 numbers[MOST_NAMESPACES];

	return outcome(list_namespaces(numbers));
}

REDTEAM(.attack = attack)
