// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: finds another mount namespace in the list of all
 * Hook: capable
 * Errno: EPERM
 * Control: asks for that list
 * Record: capable $ANY
 * As: root
 * Needs: listns
 */
#include "tests/redteam/foreign_mounts.h"
#include "tests/redteam/namespace_list.h"

static int attack(void)
{
	__u64 namespace, mount, numbers[MOST_NAMESPACES];
	long many = NEED(list_namespaces(numbers));

	read_numbers(&namespace, &mount);
	for (long i = 0; i < many; i++)
		if (numbers[i] == namespace)
			return 0;
	return EPERM;
}

static int control(void)
{
	__u64 numbers[MOST_NAMESPACES];

	return outcome(list_namespaces(numbers));
}

REDTEAM(.setup = make_foreign_mounts, .attack = attack, .control = control)
