// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes an extended attribute of a file that a rule for all directories denies, by a
 *   directory's descriptor
 * Hook: inode_removexattr
 * Errno: EACCES
 * Control: removes one of its own
 * Record: setxattr $WORK/.env
 * As: root
 * Where: tmpfs ext4
 * Needs: removexattrat
 */
#include <sys/xattr.h>

#include "tests/redteam/attack.h"
#include "tests/redteam/newer_calls.h"

static void setup(void)
{
	make_file(".env", "KEY=secret\n", 0666);
	NEED(setxattr(".env", "trusted.x", "x", 1, 0));
	NEED(setxattr("own", "trusted.x", "x", 1, 0));
}

static int remove_attribute(const char *name)
{
	int directory = NEED(open(".", O_PATH | O_CLOEXEC));

	return outcome(syscall(CALL_REMOVEXATTRAT, directory, name, 0, "trusted.x"));
}

static int attack(void)
{
	return remove_attribute(".env");
}

static int control(void)
{
	return remove_attribute("own");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
