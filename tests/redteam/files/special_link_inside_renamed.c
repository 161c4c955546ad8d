// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a link that leads inside an executor's name
 * Hook: path_rename
 * Errno: EXDEV
 * Control: gives it another name
 * Record: rename $WORK/tmp_code_0
 * As: root+special user+special
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(symlink(".env", "planted"));
	return outcome(rename("planted", "tmp_code_0"));
}

static int control(void)
{
	NEED(symlink(".env", "first"));
	return outcome(rename("first", "second"));
}

REDTEAM(.attack = attack, .control = control)
