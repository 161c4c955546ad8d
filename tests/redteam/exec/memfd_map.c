// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: maps a memory file as code
 * Hook: mmap_file
 * Errno: EACCES
 * Control: uses its own file
 * Record: mmap @memfd
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char buffer[1 << 16];
	int in = NEED(open("/usr/bin/true", O_RDONLY));
	int out = NEED(memfd_create("program", MFD_CLOEXEC));
	ssize_t length;

	while ((length = NEED(read(in, buffer, sizeof(buffer)))) > 0)
		NEED(write(out, buffer, length));
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, out, 0) == MAP_FAILED ? errno
											  : 0;
}

REDTEAM(.attack = attack)
