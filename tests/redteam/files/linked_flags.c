// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets the flags of a file of the work directory that has another name outside
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: sets those of a file with a second name of its own making
 * Record: ioctl $WORK/planted
 * Where: ext4
 */
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "tests/redteam/links.h"

static int change(const char *path)
{
	int fd = NEED(open(path, O_RDONLY | O_CLOEXEC)), flags;

	NEED(ioctl(fd, FS_IOC_GETFLAGS, &flags));
	flags ^= FS_NODUMP_FL;
	return outcome(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static int attack(void)
{
	return change("planted");
}

static int control(void)
{
	return change(own_link());
}

REDTEAM(.setup = plant_link, .attack = attack, .control = control)
