// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs a file of its own that is mounted over a program
 * Hook: bprm_check_security
 * Errno: EACCES
 * Control: runs one of those that it may run so
 * Record: exec $WORK/payload
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_sandbox(0);
	copy_file("/usr/bin/true", "payload", 0755);
	bind_at("payload", "/usr/bin/true");
	return run_path("/usr/bin/true");
}

static int allowed(void)
{
	enter_sandbox(0);
	copy_file("/usr/bin/true", "run/program", 0755);
	bind_at("run/program", "/usr/bin/true");
	return run_path("/usr/bin/true");
}

REDTEAM_INSIDE(inside, allowed)
