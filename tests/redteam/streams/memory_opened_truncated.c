// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: cuts off a memory file that it has for reading by opening it for reading
 * Hook: file_open
 * Errno: EACCES
 * Control: does so with its own
 * Record: open $ANY
 * As: root bare user
 */
#include "tests/redteam/streams.h"

static int cut_off(int fd)
{
	return open_again(fd, O_RDONLY | O_TRUNC);
}

static int attack(void)
{
	return with_readable_memory(cut_off);
}

static int control(void)
{
	return cut_off(NEED(memfd_create("own", 0)));
}

REDTEAM(.attack = attack, .control = control)
