// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: lists the mounts of another namespace
 * Hook: capable
 * Errno: EPERM
 * Control: lists those of its own
 * Record: capable $ANY
 * As: root
 * Needs: listmount
 */
#include "tests/redteam/foreign_mounts.h"

static int attack(void)
{
	__u64 namespace, mount;

	read_numbers(&namespace, &mount);
	return foreign_outcome(list_mounts(namespace, &mount, 1));
}

static int control(void)
{
	__u64 mount;

	return outcome(list_mounts(0, &mount, 1));
}

REDTEAM(.setup = make_foreign_mounts, .attack = attack, .control = control)
