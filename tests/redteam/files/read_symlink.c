// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through a symbolic link of its own
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own file through a link
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	unlink("link");
	NEED(symlink(victim("secret"), "link"));
	return read_file("link");
}

static int control(void)
{
	unlink("link");
	NEED(symlink("own", "link"));
	return read_file("link");
}

REDTEAM(.attack = attack, .control = control)
