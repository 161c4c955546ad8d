// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: appends to a file of the work directory that has another name outside
 * Hook: file_open
 * Errno: EPERM
 * Control: replaces it, and writes a file with a second name of its own making
 * Record: open $WORK/planted
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/links.h"

static void setup(void)
{
	plant_link();
	unlink("replaced");
	NEED(link(victim("store"), "replaced"));
}

static int attack(void)
{
	return open_with("planted", O_WRONLY | O_APPEND);
}

static int control(void)
{
	int error = write_file(own_link());

	make_file("new", "mine\n", 0644);
	return error ? error : outcome(rename("new", "replaced"));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
