// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: unloads the kernel that would be started after a crash
 * Hook: kernel_load_data
 * Errno: EPERM
 * Control: uses its own file
 * Record: kernel-load $ANY
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(syscall(SYS_kexec_load, 0, 0, NULL, 0));
}

REDTEAM(.attack = attack)
