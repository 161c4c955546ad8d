// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: starts a child in another cgroup, past its limits
 * Hook: task_alloc
 * Errno: EPERM
 * Control: starts one in its own
 * Record: fork $ANY
 * As: root bare
 */
#include <linux/sched.h>

#include "tests/redteam/attack.h"

static int start(const char *cgroup)
{
	struct clone_args args = {.exit_signal = SIGCHLD};
	pid_t pid;

	if (cgroup) {
		args.flags = CLONE_INTO_CGROUP;
		/* No file_open: the directory is never read. */
		args.cgroup = NEED(open(cgroup, O_PATH | O_DIRECTORY | O_CLOEXEC));
	}
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(0);
	return exit_status(pid);
}

static int attack(void)
{
	return start("/sys/fs/cgroup/redteam-victim");
}

static int control(void)
{
	return start(NULL);
}

REDTEAM(.attack = attack, .control = control)
