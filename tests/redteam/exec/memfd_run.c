// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs a program that lies in memory only
 * Hook: bprm_check_security
 * Errno: EACCES
 * Control: runs one by its descriptor that may be run
 * Record: exec @memfd
 */
#include "tests/redteam/attack.h"

static int run_descriptor(int fd)
{
	pid_t pid = NEED(fork());

	if (pid == 0) {
		char *argv[] = {"program", NULL}, *environment[] = {NULL};

		fexecve(fd, argv, environment);
		_exit(errno);
	}
	return exit_status(pid);
}

static int attack(void)
{
	char buffer[1 << 16];
	int in = NEED(open("/usr/bin/true", O_RDONLY | O_CLOEXEC));
	int out = NEED(memfd_create("program", MFD_CLOEXEC));
	ssize_t length;

	while ((length = NEED(read(in, buffer, sizeof(buffer)))) > 0)
		NEED(write(out, buffer, length));
	return run_descriptor(out);
}

static int control(void)
{
	return run_descriptor(NEED(open("/usr/bin/true", O_RDONLY | O_CLOEXEC)));
}

REDTEAM(.attack = attack, .control = control)
