// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the times of a file in its directory that another mount shows under a name that a
 *   rule denies
 * Hook: inode_setattr
 * Errno: EACCES
 * Control: changes those of one whose other name no rule speaks of
 * Record: setattr $ANY/.docker/file
 * Where: tmpfs ext4 9p overlay:user
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static void make(const char *directory)
{
	NEED(mkdir(directory, 0755));
	make_file(in_directory(directory, "file"), "text\n", 0666);
	NEED(chown(in_directory(directory, "file"), attacker(), attacker()));
}

static void setup(void)
{
	make("denied");
	make("plain");
	NEED(mkdir(victim(".docker"), 0755));
	NEED(mount("denied", victim(".docker"), NULL, MS_BIND, NULL));
	/* Neither the first nor the last of its names. */
	NEED(mount("denied", victim("empty"), NULL, MS_BIND, NULL));
	NEED(mount("plain", victim("dir"), NULL, MS_BIND, NULL));
}

static int attack(void)
{
	return outcome(utimensat(AT_FDCWD, "denied/file", NULL, 0));
}

static int control(void)
{
	return outcome(utimensat(AT_FDCWD, "plain/file", NULL, 0));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
