// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes its directory the root of all
 * Hook: sb_pivotroot
 * Errno: EPERM
 * Control: uses its own file
 * Record: mount $ANY
 * As: root
 */
#include <sched.h>
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(mkdir(victim("mounted"), 0755));
	NEED(mount("none", victim("mounted"), "tmpfs", 0, NULL));
	NEED(mkdir(victim("mounted/old"), 0755));
	/*
	 * The kernel takes no such mount for a root: the host keeps its own where the hook is not
	 * there.
	 */
	NEED(mount(NULL, victim("mounted"), NULL, MS_SHARED, NULL));
}

static int attack(void)
{
	if (!getenv("REDTEAM_CONFINED")) {
		NEED(unshare(CLONE_NEWNS));
		NEED(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	}
	NEED(chdir(victim("mounted")));
	return outcome(syscall(SYS_pivot_root, ".", "old"));
}

REDTEAM(.setup = setup, .attack = attack)
