// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has a link of its own fail, and writes a file that has another name outside by the name
 *   that failed
 * Hook: file_open
 * Errno: EPERM
 * Control: writes a file whose first link failed
 * Record: open $WORK/d/name
 * Where: tmpfs ext4 overlay
 * As: user
 */
#include "tests/redteam/links.h"

/* The directory cannot be written, which the kernel finds after the hook. */
static void fail_link(void)
{
	unlink("d/name");
	mkdir("d", 0700);
	make_file("one", "mine\n", 0644);
	NEED(chmod("d", 0500));
	if (link("one", "d/name") == 0)
		broken("link");
	NEED(chmod("d", 0700));
}

static int attack(void)
{
	fail_link();
	NEED(link("planted", "d/name"));
	return write_file("d/name");
}

static int control(void)
{
	fail_link();
	NEED(link("one", "d/name"));
	return write_file("d/name");
}

REDTEAM(.setup = plant_link, .attack = attack, .control = control)
