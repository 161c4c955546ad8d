// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the times of a file with more names than are looked at, one of which a rule
 *   denies
 * Hook: inode_setattr
 * Errno: EACCES
 * Control: changes those of one with a few
 * Record: setattr $ANY
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

/*
 * From either end, the name in the middle comes behind more than there is room for (SEARCH_MOUNTS).
 */
#define NAMES_MANY 160
#define NAMES_FEW  8

/* A file system of its own: others' files must not have as many names. */
static void make(const char *top, int names, const char *denied)
{
	char path[PATH_SIZE];

	NEED(mkdir(top, 0755));
	NEED(mount("redteam", top, "tmpfs", 0, NULL));
	NEED(mkdir(in_directory(top, "shown"), 0755));
	make_file(in_directory(top, "shown/file"), "text\n", 0666);
	NEED(chown(in_directory(top, "shown/file"), attacker(), attacker()));
	for (int i = 0; i < names; i++) {
		snprintf(path, sizeof(path), "%s/%d", top, i);
		NEED(mkdir(path, 0755));
		NEED(mount(in_directory(top, "shown"), path, NULL, MS_BIND, NULL));
		if (denied && i == names / 2)
			NEED(mount(in_directory(top, "shown"), denied, NULL, MS_BIND, NULL));
	}
}

static void setup(void)
{
	NEED(mkdir(victim(".docker"), 0755));
	make("many", NAMES_MANY, victim(".docker"));
	make("few", NAMES_FEW, NULL);
}

static int attack(void)
{
	return outcome(utimensat(AT_FDCWD, "many/shown/file", NULL, 0));
}

static int control(void)
{
	return outcome(utimensat(AT_FDCWD, "few/shown/file", NULL, 0));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
