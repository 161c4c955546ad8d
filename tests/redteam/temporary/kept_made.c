// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a file in /tmp that a rule denies by its name
 * Hook: path_mknod
 * Errno: EACCES
 * Control: makes, reads and removes another
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: create $ANY.kept
 */
#include "tests/redteam/temporary.h"

static int attack(void)
{
	return write_file(temporary("file.kept"));
}

REDTEAM(.attack = attack, .control = use_temporary)
