// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: writes to the audit log
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $LOG/current.jsonl
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with(in_directory(setting("REDTEAM_LOG"), "current.jsonl"), O_WRONLY);
}

REDTEAM(.attack = attack)
