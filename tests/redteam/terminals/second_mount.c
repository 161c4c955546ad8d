// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a terminal in a second devpts that is mounted elsewhere
 * Hook: file_open
 * Errno: EACCES
 * Control: makes one in the first
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open $VICTIM/dir/ptmx
 */
#include <sys/mount.h>

#include "tests/redteam/terminals.h"

static void setup(void)
{
	NEED(mount("redteam", victim("dir"), "devpts", MS_NOSUID | MS_NOEXEC,
		   "mode=666,ptmxmode=666"));
}

static int attack(void)
{
	return open_terminal(victim("dir/ptmx"));
}

REDTEAM(.setup = setup, .attack = attack, .control = use_own_terminal)
