// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks for a handle of a file
 * Hook: seccomp
 * Errno: EPERM
 * Control: asks for its attributes
 * Record: system-call name_to_handle_at
 * As: root+filter user+filter
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	struct {
		struct file_handle head;
		unsigned char room[128];
	} handle = {.head.handle_bytes = 128};
	int mount;

	return outcome(name_to_handle_at(AT_FDCWD, "own", &handle.head, &mount, 0));
}

static int control(void)
{
	struct stat status;

	return outcome(stat("own", &status));
}

REDTEAM(.attack = attack, .control = control)
