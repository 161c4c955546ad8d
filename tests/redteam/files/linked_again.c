// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a file that has another name outside a third one, and writes it by that
 * Hook: file_open
 * Errno: EPERM
 * Control: gives a third name to a file whose second one is of its own making, and writes it
 * Record: open $WORK/third
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/links.h"

static int write_by_third(const char *path)
{
	unlink("third");
	NEED(link(path, "third"));
	return write_file("third");
}

static int attack(void)
{
	return write_by_third("planted");
}

static int control(void)
{
	return write_by_third(own_link());
}

REDTEAM(.setup = plant_link, .attack = attack, .control = control)
