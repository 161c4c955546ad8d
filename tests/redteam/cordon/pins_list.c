// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: lists the objects that confine it
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open /sys/fs/bpf/cordon$ANY
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/sys/fs/bpf/cordon", O_RDONLY | O_DIRECTORY);
}

REDTEAM(.attack = attack)
