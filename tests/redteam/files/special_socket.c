// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: binds a socket under the name of a file that an executor reads
 * Hook: path_mknod
 * Errno: EACCES
 * Control: binds one where a rule says so
 * Record: mknod $WORK/next
 * As: root+special user+special
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/net.h"

static void setup(void)
{
	NEED(mkdir("bin", 0755));
	NEED(chown("bin", attacker(), attacker()));
}

static int attack(void)
{
	return try_bind(SOCK_STREAM, address_path("next"));
}

static int control(void)
{
	return try_bind(SOCK_STREAM, address_path("bin/socket"));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
