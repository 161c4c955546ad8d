// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: plants a link under an executor's name that leads to a file only the execution may not
 *   write
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes the same link under another name
 * Record: symlink $WORK/tmp_code_0
 * As: root+special user+special
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(symlink(".env", "tmp_code_0"));
}

static int control(void)
{
	return outcome(symlink(".env", "other"));
}

REDTEAM(.attack = attack, .control = control)
