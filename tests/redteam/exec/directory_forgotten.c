// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: maps programs from directories that it has used where they may be mapped, and moved away,
 *   and others since
 * Hook: mmap_file
 * Errno: EACCES
 * Control: maps them before that
 * Record: mmap $WORK/moved$ANY/program
 * As: root+names user+names
 */
#include "tests/redteam/attack.h"

/* What is used in between may be remembered in the place of one of them. */
#define DIRECTORIES 4

static const char *program_in(const char *directory, int number)
{
	static char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s%d/program", directory, number);
	return path;
}

static void build(const char *directory, int number)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s%d", directory, number);
	NEED(mkdir(path, 0755));
	copy_file("/proc/self/exe", program_in(directory, number), 0755);
}

static int attack(void)
{
	char from[PATH_SIZE], to[PATH_SIZE];
	int error = 0;

	/* By then it is known that the file system is mounted once. */
	if (read_file("own"))
		broken("own");
	for (int i = 0; i < DIRECTORIES; i++) {
		build("run/tree", i);
		if (map_file(program_in("run/tree", i)))
			broken("run/tree");
	}
	for (int i = 0; i < DIRECTORIES; i++) {
		snprintf(from, sizeof(from), "run/tree%d", i);
		snprintf(to, sizeof(to), "moved%d", i);
		NEED(rename(from, to));
	}
	if (read_file("own"))
		broken("own");
	for (int i = 0; i < DIRECTORIES; i++) {
		error = map_file(program_in("moved", i));
		if (!error)
			return 0;
	}
	return error;
}

static int control(void)
{
	build("run/other", 0);
	if (map_file(program_in("run/other", 0)))
		return errno;
	return map_file(program_in("run/other", 0));
}

REDTEAM(.attack = attack, .control = control)
