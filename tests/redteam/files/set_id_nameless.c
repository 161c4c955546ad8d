// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a file without a name that runs as its owner, to name it afterwards
 * Hook: file_open
 * Errno: EACCES
 * Control: makes and names one that does not
 * Record: open $WORK/$ANY
 * As: root bare user
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int make(const char *name, mode_t mode)
{
	int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	char link[64];

	if (fd < 0)
		return errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return outcome(linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW));
}

static int attack(void)
{
	return make("new", 04755);
}

static int control(void)
{
	return make("plain", 0755);
}

REDTEAM(.attack = attack, .control = control)
