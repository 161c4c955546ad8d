// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: loads a kernel module from a file
 * Hook: kernel_read_file
 * Errno: EPERM
 * Control: uses its own file
 * Record: kernel-load $ANY
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	int fd = NEED(open(open_place("module.ko"), O_RDONLY | O_CLOEXEC)), error;

	error = outcome(syscall(SYS_finit_module, fd, "", 0));
	if (!error)
		syscall(SYS_delete_module, setting("REDTEAM_MODULE_NAME"), O_NONBLOCK);
	/* There already: nothing else was in its way. */
	return error == EEXIST ? 0 : error;
}

REDTEAM(.attack = attack)
