// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: lists a directory while it moves to where more is granted, then opens what is denied
 *   beside its old name
 * Hook: file_open
 * Errno: EACCES
 * Control: moves it to and fro and opens it by either name
 * Record: open $WORK/.config/gcloud
 */
#include "tests/redteam/rename_race.h"

static void setup(void)
{
	rename_race_setup();
	NEED(mkdir(".config/moving", 0755));
	NEED(chown(".config/moving", attacker(), attacker()));
}

static int attack(void)
{
	return rename_race_run("moving", O_RDONLY | O_DIRECTORY);
}

static int control(void)
{
	return rename_race_control("moving", O_RDONLY | O_DIRECTORY);
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
