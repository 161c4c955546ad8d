// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: lists pinned BPF objects
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own status
 * Record: open /sys/fs/bpf
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/sys/fs/bpf", O_RDONLY | O_DIRECTORY);
}

static int control(void)
{
	return read_file("/proc/self/status");
}

REDTEAM(.attack = attack, .control = control)
