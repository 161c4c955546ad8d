// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a directory case-insensitive, so that names which rules deny have other spellings
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: reads the directory's flags, and sets those of a file
 * Record: ioctl $ANY
 * Where: tmpfs
 */
#include "tests/redteam/folding.h"

static void setup(void)
{
	mount_folding();
	NEED(mkdir("folding/empty", 0755));
	give_to_attacker("folding/empty");
	make_attackers_file("folding/file");
}

static int set_flag(const char *path, int flag)
{
	int fd = NEED(open(path, O_RDONLY | O_CLOEXEC)), flags;

	NEED(ioctl(fd, FS_IOC_GETFLAGS, &flags));
	flags |= flag;
	return flag ? outcome(ioctl(fd, FS_IOC_SETFLAGS, &flags)) : 0;
}

static int attack(void)
{
	return set_flag("folding/empty", FS_CASEFOLD_FL);
}

static int control(void)
{
	int error = set_flag("folding/empty", 0);

	return error ? error : set_flag("folding/file", FS_NODUMP_FL);
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
