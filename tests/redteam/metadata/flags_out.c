// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: looks at the flags of a file outside, by its name
 * Hook: inode_file_getattr
 * Errno: EACCES
 * Control: looks at those of its own
 * Record: metadata $VICTIM/secret
 * As: root+metadata user+metadata
 * Where: tmpfs ext4
 * Needs: file_getattr
 */
#include "tests/redteam/attack.h"
#include "tests/redteam/newer_calls.h"

static int look(const char *path)
{
	struct file_attributes is;

	return outcome(syscall(CALL_FILE_GETATTR, AT_FDCWD, path, &is, sizeof(is), 0));
}

static int attack(void)
{
	return look(victim("secret"));
}

static int control(void)
{
	return look("own");
}

REDTEAM(.attack = attack, .control = control)
