// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside by openat2
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own file by openat2
 * Record: open $VICTIM/secret
 */
#include <linux/openat2.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_NO_MAGICLINKS};

	return outcome(syscall(SYS_openat2, AT_FDCWD, victim("secret"), &how, sizeof(how)));
}

static int control(void)
{
	struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_BENEATH};

	return outcome(syscall(SYS_openat2, AT_FDCWD, "own", &how, sizeof(how)));
}

REDTEAM(.attack = attack, .control = control)
