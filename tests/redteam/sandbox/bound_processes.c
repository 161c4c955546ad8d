// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: looks at a process outside in a copy of the mount of /proc
 * Hook: file_open
 * Errno: EACCES
 * Control: looks at itself there
 * Record: open /proc/$PID/status
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	char path[64];

	enter_sandbox(0);
	make_own_directory("here");
	NEED(mount("/proc", "here", NULL, MS_BIND | MS_REC, NULL));
	snprintf(path, sizeof(path), "here/%d/status", host_pid());
	return read_file(path);
}

static int allowed(void)
{
	enter_sandbox(0);
	make_own_directory("here");
	NEED(mount("/proc", "here", NULL, MS_BIND | MS_REC, NULL));
	return read_file("here/self/status");
}

REDTEAM_INSIDE(inside, allowed)
