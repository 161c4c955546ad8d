// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads through a second mount what lies so deep at the first that no rule on its place can be asked
 * Hook: file_open
 * Errno: EACCES
 * Control: reads a file of its own
 * Record: open $ANY
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

/* As many components as are climbed (CORDON_MAX_COMPONENTS), besides those of the directory that they are made in. */
#define COMPONENTS 128

static void setup(void)
{
	char path[4096];
	size_t length = snprintf(path, sizeof(path), "%s", victim("dir"));

	for (int i = 0; i < COMPONENTS; i++) {
		length += snprintf(path + length, sizeof(path) - length, "/deep");
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			broken(path);
	}
	NEED(mkdir("bound", 0755));
	NEED(mount(path, "bound", NULL, MS_BIND, NULL));
	make_file("bound/secret", "secret\n", 0644);
}

static int attack(void)
{
	return read_file("bound/secret");
}

static int control(void)
{
	return read_file("own");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
