// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a directory among pinned BPF objects
 * Hook: path_mkdir
 * Errno: EACCES
 * Control: uses its own file
 * Record: mkdir /sys/fs/bpf/redteam
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	int error = outcome(mkdir("/sys/fs/bpf/redteam", 0755));

	rmdir("/sys/fs/bpf/redteam");
	return error;
}

REDTEAM(.attack = attack)
