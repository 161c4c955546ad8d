// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes the audit log
 * Hook: path_rename
 * Errno: EACCES
 * Control: uses its own file
 * Record: rename $LOG/victim
 * As: root
 * Where: tmpfs
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file(in_directory(setting("REDTEAM_LOG"), "victim"), "", 0600);
}

static int attack(void)
{
	return outcome(rename(in_directory(setting("REDTEAM_LOG"), "victim"), "taken"));
}

REDTEAM(.setup = setup, .attack = attack)
