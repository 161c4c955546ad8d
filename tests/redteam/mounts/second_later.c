// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file again that has come to be mounted where a rule denies it
 * Hook: file_open
 * Errno: EACCES
 * Control: reads it before, twice
 * Record: open $VICTIM/kept/secret
 * As: root
 */
#include <sys/mount.h>

#include "tests/redteam/net.h"

static void setup(void)
{
	NEED(mkdir("later", 0755));
	NEED(mount("tmpfs", "later", "tmpfs", 0, NULL));
	make_file("later/secret", "secret\n", 0644);
	NEED(mkdir(victim("kept"), 0755));
}

static int attack(void)
{
	char request[2 * PATH_SIZE + 8], from[PATH_SIZE];

	if (read_file("later/secret"))
		broken("the file before");
	NEED(realpath("later", from) ? 0 : -1);
	snprintf(request, sizeof(request), "bind:%s:%s", from, victim("kept"));
	close(receive_descriptor(request));
	return read_file("later/secret");
}

static int control(void)
{
	int error = read_file("later/secret");

	return error ? error : read_file("later/secret");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
