// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: maps a file of its own as code
 * Hook: mmap_file
 * Errno: EACCES
 * Control: maps an allowed one
 * Record: mmap $WORK/own
 */
#include "tests/redteam/attack.h"

static int map_executable(const char *path, int flags)
{
	int fd = NEED(open(path, O_RDONLY | O_CLOEXEC));
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, flags, fd, 0);

	return at == MAP_FAILED ? errno : 0;
}

static int attack(void)
{
	return map_executable("own", MAP_PRIVATE);
}

static int control(void)
{
	return map_executable("/usr/bin/true", MAP_PRIVATE);
}

REDTEAM(.attack = attack, .control = control)
