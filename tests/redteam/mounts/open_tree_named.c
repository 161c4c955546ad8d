// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through a detached copy of a mount in which its name is that of an
 *   allowed file
 * Hook: file_open
 * Errno: EACCES
 * Control: reads the file that has that name
 * Record: open $ANY/true
 * As: root
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(mkdir(victim("usr"), 0755));
	NEED(mkdir(victim("usr/bin"), 0755));
	make_file(victim("usr/bin/true"), "secret\n", 0644);
}

static int attack(void)
{
	int tree = NEED(syscall(SYS_open_tree, AT_FDCWD, victim(""), OPEN_TREE_CLONE));

	return outcome(openat(tree, "usr/bin/true", O_RDONLY | O_CLOEXEC));
}

static int control(void)
{
	return read_file("/usr/bin/true");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
