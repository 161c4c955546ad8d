// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a file that it has open by a second name outside, which nothing grants
 * Hook: file_open
 * Errno: EACCES
 * Control: opens it again by its own name
 * Record: open $VICTIM/alias
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(link("own", victim("alias")));
}

static int with_own_open(const char *path)
{
	int fd = NEED(open("own", O_RDONLY | O_CLOEXEC)), error = open_with(path, O_RDONLY);

	close(fd);
	return error;
}

static int attack(void)
{
	return with_own_open(victim("alias"));
}

static int control(void)
{
	return with_own_open("own");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
