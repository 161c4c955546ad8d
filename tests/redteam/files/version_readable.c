// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the generation of a file that it may only read
 * Hook: file_ioctl
 * Errno: EACCES
 * Control: changes that of its own
 * Record: ioctl $OPEN/writable
 * Where: ext4
 */
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "tests/redteam/attack.h"

static int change_version(const char *path)
{
	int fd = NEED(open(path, O_RDONLY | O_CLOEXEC)), version = 4711;

	return outcome(ioctl(fd, FS_IOC_SETVERSION, &version));
}

static int attack(void)
{
	return change_version(open_place("writable"));
}

static int control(void)
{
	return change_version("own");
}

REDTEAM(.attack = attack, .control = control)
