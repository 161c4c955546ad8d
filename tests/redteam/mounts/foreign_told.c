// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has itself told what is mounted in another namespace
 * Hook: capable
 * Errno: EPERM
 * Control: has itself told of its own
 * Record: capable $ANY
 * As: root
 * Needs: statmount
 */
#include "tests/redteam/foreign_mounts.h"

static int attack(void)
{
	__u64 namespace, mount;

	read_numbers(&namespace, &mount);
	return foreign_outcome(tell_mount(namespace, mount));
}

static int control(void)
{
	__u64 mount;

	NEED(list_mounts(0, &mount, 1));
	return outcome(tell_mount(0, mount));
}

REDTEAM(.setup = make_foreign_mounts, .attack = attack, .control = control)
