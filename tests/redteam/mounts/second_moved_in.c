// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file that a rule denies by the name that a mount gives it, once somebody else has
 *   moved it to a directory that was read in before
 * Hook: file_open
 * Errno: EACCES
 * Control: reads what lay there before
 * Record: open $VICTIM/kept/secret
 * As: root bare user
 */
#include "tests/redteam/second_mount.h"

static void move_when_asked(void)
{
	wait_for_file("top/used/begin");
	rename("top/secret", "top/used/secret");
}

static void setup(void)
{
	NEED(mkdir(victim("kept"), 0755));
	make_file(victim("kept/secret"), "none\n", 0666);
	/* Of its own, so that all others are still in a file system that is mounted once. */
	NEED(mkdir("top", 0755));
	NEED(mount("top", "top", "tmpfs", 0, "mode=755"));
	make_file("top/secret", "secret\n", 0666);
	NEED(mkdir("top/used", 0755));
	NEED(chown("top/used", attacker(), attacker()));
	make_file("top/used/text", "text\n", 0644);
	NEED(mount("top/secret", victim("kept/secret"), NULL, MS_BIND, NULL));
	leave_behind(move_when_asked);
}

/* More than once, so that all that can be remembered of the directory is. */
static int control(void)
{
	int error = 0;

	for (int i = 0; i < 4 && !error; i++)
		error = read_file("top/used/text");
	return error;
}

static int attack(void)
{
	if (control())
		broken("top/used/text");
	make_file("top/used/begin", "x", 0644);
	wait_for_file("top/used/secret");
	return read_file("top/used/secret");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
