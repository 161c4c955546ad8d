// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file of a directory that it holds on to while it is moved out of what is mounted
 *   there, to an allowed name
 * Hook: file_open
 * Errno: EACCES
 * Control: reads the file that has that name
 * Record: open $ANY
 * As: root
 */
#include <sys/mount.h>

#include "tests/redteam/net.h"

static void setup(void)
{
	NEED(mkdir(victim("whole"), 0755));
	NEED(mount("tmpfs", victim("whole"), "tmpfs", 0, NULL));
	NEED(mkdir(victim("whole/usr"), 0755));
	NEED(mkdir(victim("whole/part"), 0755));
	NEED(mkdir(victim("whole/part/bin"), 0755));
	make_file(victim("whole/part/bin/true"), "secret\n", 0644);
	NEED(mkdir(victim("part"), 0755));
	NEED(mount(victim("whole/part"), victim("part"), NULL, MS_BIND, NULL));
}

static int attack(void)
{
	int held = NEED(open(victim("part/bin"), O_PATH | O_DIRECTORY | O_CLOEXEC)), fd;
	char request[2 * PATH_SIZE + 8];

	snprintf(request, sizeof(request), "move:%s:%s", victim("whole/part/bin"),
		 victim("whole/usr/bin"));
	close(receive_descriptor(request));
	fd = openat(held, "true", O_RDONLY | O_CLOEXEC);
	close(held);
	return outcome(fd);
}

static int control(void)
{
	return read_file("/usr/bin/true");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
