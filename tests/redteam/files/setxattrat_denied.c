// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets an extended attribute of a file that a rule for all directories denies, by a
 *   directory's descriptor
 * Hook: inode_setxattr
 * Errno: EACCES
 * Control: sets one of its own
 * Record: setxattr $WORK/.env
 * As: root
 * Where: tmpfs ext4
 * Needs: setxattrat
 */
#include "tests/redteam/attack.h"
#include "tests/redteam/newer_calls.h"

static void setup(void)
{
	make_file(".env", "KEY=secret\n", 0666);
}

static int set_attribute(const char *name)
{
	const struct xattr_arguments value = {.value = (__u64) "x", .size = 1};
	int directory = NEED(open(".", O_PATH | O_CLOEXEC));

	return outcome(
		syscall(CALL_SETXATTRAT, directory, name, 0, "trusted.x", &value, sizeof(value)));
}

static int attack(void)
{
	return set_attribute(".env");
}

static int control(void)
{
	return set_attribute("own");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
