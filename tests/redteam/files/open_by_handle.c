// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside by its handle
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $ANY$NAME/secret
 * As: root
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	struct {
		struct file_handle handle;
		char bytes[MAX_HANDLE_SZ];
	} buffer = {.handle.handle_bytes = MAX_HANDLE_SZ};
	int mount;

	NEED(name_to_handle_at(AT_FDCWD, victim("secret"), &buffer.handle, &mount, 0));
	return outcome(open_by_handle_at(NEED(open("own", O_RDONLY)), &buffer.handle, O_RDONLY));
}

REDTEAM(.attack = attack)
