// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a file without a name one outside
 * Hook: path_link
 * Errno: EACCES
 * Control: gives it one in its own directory
 * Record: link $VICTIM/dir/new
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int link_to(const char *path)
{
	int fd = NEED(open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return outcome(linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW));
}

static int attack(void)
{
	return link_to(victim("dir/new"));
}

static int control(void)
{
	return link_to("new");
}

REDTEAM(.attack = attack, .control = control)
