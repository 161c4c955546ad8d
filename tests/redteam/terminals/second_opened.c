// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a terminal of the host in a second devpts that is mounted elsewhere
 * Hook: file_open
 * Errno: EACCES
 * Control: opens a terminal that it has made in the first
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open $VICTIM/dir/$ANY
 */
#include <sys/mount.h>

#include "tests/redteam/terminals.h"

static void hold(void)
{
	int master = NEED(open(victim("dir/ptmx"), O_RDWR | O_NOCTTY | O_CLOEXEC));

	NEED(unlockpt(master));
	make_file("ready", "x", 0644);
	for (;;)
		pause();
}

static void setup(void)
{
	NEED(mount("redteam", victim("dir"), "devpts", MS_NOSUID | MS_NOEXEC,
		   "mode=666,ptmxmode=666"));
	leave_behind(hold);
	wait_for_file("ready");
}

static int attack(void)
{
	return open_terminal(victim("dir/0"));
}

REDTEAM(.setup = setup, .attack = attack, .control = use_own_terminal)
