// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: maps a program from a directory beside another, both used where that may be done, after
 *   the directory that they stand in was moved away
 * Hook: mmap_file
 * Errno: EACCES
 * Control: maps it where that is allowed
 * Record: mmap $WORK/top/second/program
 * As: root+names user+names
 */
#include "tests/redteam/attack.h"

static const char *program_in(const char *directory)
{
	static char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/program", directory);
	return path;
}

static int build_and_map(const char *directory)
{
	NEED(mkdir(directory, 0755));
	copy_file("/proc/self/exe", program_in(directory), 0755);
	return map_file(program_in(directory));
}

static int attack(void)
{
	/* By then it is known that the file system is mounted once. */
	if (read_file("own"))
		broken("own");
	NEED(mkdir("run/top", 0755));
	if (build_and_map("run/top/first") || build_and_map("run/top/second"))
		broken("run/top");
	NEED(rename("run/top", "top"));
	if (read_file("own"))
		broken("own");
	return map_file(program_in("top/second"));
}

static int control(void)
{
	NEED(mkdir("run/other", 0755));
	return build_and_map("run/other/first") ?: build_and_map("run/other/second");
}

REDTEAM(.attack = attack, .control = control)
