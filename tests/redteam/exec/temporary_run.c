// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs a program without a name from a directory whose programs may be run
 * Hook: bprm_check_security
 * Errno: EACCES
 * Control: runs one there that has a name
 * Record: exec @memfd
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char buffer[1 << 16], *argv[] = {"program", NULL}, *environment[] = {NULL}, name[64];
	int in = NEED(open("/usr/bin/true", O_RDONLY | O_CLOEXEC)), out, again;
	ssize_t length;
	pid_t pid;

	out = NEED(open("run", O_TMPFILE | O_RDWR | O_CLOEXEC, 0700));
	while ((length = NEED(read(in, buffer, sizeof(buffer)))) > 0)
		NEED(write(out, buffer, length));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", out);
	again = NEED(open(name, O_RDONLY | O_CLOEXEC));
	close(out);
	pid = NEED(fork());
	if (pid == 0) {
		fexecve(again, argv, environment);
		_exit(errno);
	}
	return exit_status(pid);
}

static int control(void)
{
	copy_file("/usr/bin/true", "run/named", 0700);
	return run_path("run/named");
}

REDTEAM(.attack = attack, .control = control)
