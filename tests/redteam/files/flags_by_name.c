// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the flags of a file that it may only read, by its name
 * Hook: inode_file_setattr
 * Errno: EACCES
 * Control: changes those of its own
 * Record: setattr $OPEN/writable
 * Where: tmpfs ext4
 * Needs: file_setattr
 */
#include <linux/fs.h>

#include "tests/redteam/attack.h"
#include "tests/redteam/newer_calls.h"

static int change_flags(const char *path)
{
	struct file_attributes is;

	NEED(syscall(CALL_FILE_GETATTR, AT_FDCWD, path, &is, sizeof(is), 0));
	is.flags ^= FS_XFLAG_NODUMP;
	return outcome(syscall(CALL_FILE_SETATTR, AT_FDCWD, path, &is, sizeof(is), 0));
}

static int attack(void)
{
	return change_flags(open_place("writable"));
}

static int control(void)
{
	return change_flags("own");
}

REDTEAM(.attack = attack, .control = control)
