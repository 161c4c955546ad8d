// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs a program that has been deleted
 * Hook: bprm_check_security
 * Errno: EACCES
 * Control: runs one that has not
 * Record: exec @memfd
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	copy_file("/usr/bin/true", "run/program", 0755);
	copy_file("/usr/bin/true", "run/other", 0755);
}

static int attack(void)
{
	pid_t pid;
	int fd;

	fd = NEED(open("run/program", O_PATH | O_CLOEXEC));
	NEED(unlink("run/program"));
	pid = NEED(fork());
	if (pid == 0) {
		syscall(SYS_execveat, fd, "", (char *[]){"true", NULL}, environ, AT_EMPTY_PATH);
		_exit(errno);
	}
	return exit_status(pid);
}

static int control(void)
{
	return run_path("run/other");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
