// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: maps an allowed library so that it can write its own copy of the code and run that
 * Hook: mmap_file
 * Errno: EACCES
 * Control: maps it as code, and as data that it can write
 * Record: mmap @anonymous
 */
#include "tests/redteam/loader.h"

static int map_library(int protection)
{
	int fd = NEED(open(LIBM, O_RDONLY | O_CLOEXEC));
	void *at = mmap(NULL, 4096, protection, MAP_PRIVATE, fd, 0);

	return at == MAP_FAILED ? errno : 0;
}

static int attack(void)
{
	return map_library(PROT_READ | PROT_WRITE | PROT_EXEC);
}

static int control(void)
{
	int error = map_library(PROT_READ | PROT_EXEC);

	return error ? error : map_library(PROT_READ | PROT_WRITE);
}

REDTEAM(.attack = attack, .control = control)
