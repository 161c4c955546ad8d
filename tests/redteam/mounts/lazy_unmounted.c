// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file of a file system that it holds on to while it is unmounted
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $ANY
 * As: root
 */
#include <sys/mount.h>

#include "tests/redteam/net.h"

static void setup(void)
{
	NEED(mkdir(victim("mounted"), 0755));
	NEED(mount("tmpfs", victim("mounted"), "tmpfs", 0, NULL));
	make_file(victim("mounted/own"), "secret\n", 0644);
}

static int attack(void)
{
	int held = NEED(open(victim("mounted"), O_PATH | O_DIRECTORY | O_CLOEXEC)), fd;
	char request[PATH_SIZE];

	snprintf(request, sizeof(request), "umount:%s", victim("mounted"));
	close(receive_descriptor(request));
	if (access(victim("mounted/own"), F_OK) == 0)
		broken("it has not been unmounted");
	fd = openat(held, "own", O_RDONLY | O_CLOEXEC);
	close(held);
	return outcome(fd);
}

REDTEAM(.setup = setup, .attack = attack)
