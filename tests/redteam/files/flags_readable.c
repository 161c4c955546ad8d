// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the flags of a file that it may only read
 * Hook: file_ioctl
 * Errno: EACCES
 * Control: changes those of its own
 * Record: ioctl $OPEN/writable
 * As: root bare user
 * Where: tmpfs ext4
 */
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "tests/redteam/attack.h"

static int change_flags(const char *path)
{
	int fd = NEED(open(path, O_RDONLY | O_CLOEXEC)), flags;

	NEED(ioctl(fd, FS_IOC_GETFLAGS, &flags));
	flags ^= FS_NODUMP_FL;
	return outcome(ioctl(fd, FS_IOC_SETFLAGS, &flags));
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
