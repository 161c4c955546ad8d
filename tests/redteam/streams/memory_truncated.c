// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: cuts off a memory file that it has for reading
 * Hook: path_truncate
 * Errno: EACCES
 * Control: cuts off its own
 * Record: truncate $ANY
 * As: root bare user
 */
#include "tests/redteam/streams.h"

static int cut_off(int fd)
{
	return outcome(truncate(descriptor_path(fd), 0));
}

static int attack(void)
{
	return with_readable_memory(cut_off);
}

static int control(void)
{
	int own = NEED(memfd_create("own", 0)), error = outcome(ftruncate(own, 4096));

	return error ? error : cut_off(own);
}

REDTEAM(.attack = attack, .control = control)
