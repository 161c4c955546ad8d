// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file so deep outside that what can be climbed of its name is that of an allowed
 *   one
 * Hook: file_open
 * Errno: EACCES
 * Control: reads one of its own that is not so deep
 * Record: open $ANY
 */
#include "tests/redteam/attack.h"

/* As many components as are climbed (CORDON_MAX_COMPONENTS): those from "usr" on, with the file. */
#define COMPONENTS 128

/* "lib" again and again, below "usr": all that lies there may be read. */
static const char *name_below(const char *top)
{
	static char path[4096];
	int length = snprintf(path, sizeof(path), "%s/usr", top);

	for (int i = 2; i < COMPONENTS; i++)
		length += snprintf(path + length, sizeof(path) - length, "/lib");
	snprintf(path + length, sizeof(path) - length, "/secret");
	return path;
}

static void setup(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s", name_below(victim("dir")));
	for (char *slash = strstr(path, "/usr"); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			broken(path);
		*slash = '/';
	}
	make_file(path, "secret\n", 0644);
}

static int attack(void)
{
	return read_file(name_below(victim("dir")));
}

static int control(void)
{
	NEED(mkdir("usr", 0755));
	NEED(mkdir("usr/lib", 0755));
	make_file("usr/lib/secret", "own\n", 0644);
	return read_file("usr/lib/secret");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
