// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs a program that lies in memory mounted over where programs may be run
 * Hook: bprm_check_security
 * Errno: EACCES
 * Control: runs one that lies there
 * Record: exec @memfd
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_sandbox(0);
	NEED(mount("none", "run", "tmpfs", 0, NULL));
	copy_file("/usr/bin/true", "run/program", 0755);
	return run_path("run/program");
}

static int allowed(void)
{
	enter_sandbox(0);
	copy_file("/usr/bin/true", "run/program", 0755);
	return run_path("run/program");
}

REDTEAM_INSIDE(inside, allowed)
