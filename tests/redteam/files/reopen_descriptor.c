// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a file outside by O_PATH and reopens that descriptor
 * Hook: file_open
 * Errno: EACCES
 * Control: reopens its own file
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", NEED(open(victim("secret"), O_PATH)));
	return read_file(name);
}

static int control(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", NEED(open("own", O_PATH)));
	return read_file(name);
}

REDTEAM(.attack = attack, .control = control)
