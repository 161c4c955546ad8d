// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has an overlay redirect a name to a directory of its lower layer, with a file which may
 *   not be made there
 * Hook: path_rename
 * Errno: EXDEV
 * Control: has it redirect another name
 * Record: rename $WORK/layered/conf
 * As: root+names user+names
 * Where: tmpfs ext4
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static void make_own(const char *directory)
{
	NEED(mkdir(directory, 0755));
	NEED(chown(directory, attacker(), attacker()));
}

static void setup(void)
{
	static const char *const directories[] = {"lower", "lower/tree", "lower/beside",
						  "upper", "scratch",	 "layered"};

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		make_own(directories[i]);
	make_file("lower/tree/settings.json", "{}", 0644);
	NEED(mount("redteam", "layered", "overlay", 0,
		   "lowerdir=lower,upperdir=upper,workdir=scratch,redirect_dir=on"));
}

static int attack(void)
{
	return outcome(rename("layered/tree", "layered/conf"));
}

static int control(void)
{
	return outcome(rename("layered/beside", "layered/free"));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
