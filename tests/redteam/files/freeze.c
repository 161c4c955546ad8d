// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: freezes a file system, for all who write there
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: uses its own file
 * Record: ioctl $ANY
 * As: root
 * Where: ext4
 */
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	int fd = NEED(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	int error = outcome(ioctl(fd, FIFREEZE, 0));

	if (!error)
		NEED(ioctl(fd, FITHAW, 0));
	return error;
}

REDTEAM(.attack = attack)
