// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a private copy of code, changes it and runs it
 * Hook: file_mprotect
 * Errno: EACCES
 * Control: runs it unchanged
 * Record: mprotect @anonymous
 */
#include "tests/redteam/attack.h"
#include "tests/redteam/machine_code.h"

static int attack(void)
{
	int fd = NEED(open("/usr/bin/true", O_RDONLY | O_CLOEXEC));
	char *at = NEED(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0));

	put_machine_code(at, machine_return, sizeof(machine_return));
	return outcome(mprotect(at, 4096, PROT_READ | PROT_EXEC));
}

static int control(void)
{
	int fd = NEED(open("/usr/bin/true", O_RDONLY | O_CLOEXEC));
	char *at = NEED(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0));

	return outcome(mprotect(at, 4096, PROT_READ | PROT_EXEC));
}

REDTEAM(.attack = attack, .control = control)
