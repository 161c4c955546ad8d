// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes one of the objects that confine it, by a rename
 * Hook: path_rename
 * Errno: EACCES
 * Control: uses its own file
 * Record: rename /sys/fs/bpf/cordon
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	int error = outcome(rename("/sys/fs/bpf/cordon", "/sys/fs/bpf/moved"));

	rename("/sys/fs/bpf/moved", "/sys/fs/bpf/cordon");
	return error;
}

REDTEAM(.attack = attack)
