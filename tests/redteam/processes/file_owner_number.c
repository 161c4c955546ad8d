// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes the receiver of a file's signals a process whose number in a namespace is its own
 *   outside
 * Hook: file_fcntl
 * Errno: EPERM
 * Control: makes itself the receiver, by its number in the namespace
 * Record: signal $ANY
 * As: root
 */
#include <linux/sched.h>
#include <stdint.h>

#include "tests/redteam/attack.h"

/* As fork(2) is otherwise. */
static pid_t forked(uint64_t flags, pid_t number)
{
	struct clone_args arguments = {
		.flags = flags,
		.exit_signal = SIGCHLD,
		.set_tid = number ? (uintptr_t)&number : 0,
		.set_tid_size = number ? 1 : 0,
	};

	return (pid_t)NEED(syscall(SYS_clone3, &arguments, sizeof(arguments)));
}

static int name(pid_t number)
{
	int ends[2];

	NEED(pipe(ends));
	return outcome(fcntl(ends[0], F_SETOWN, number));
}

/* `act` in a namespace of numbers, where it is told its number outside. */
static int inside(int (*act)(pid_t outside))
{
	pid_t pid, outside;
	int ends[2];

	NEED(pipe(ends));
	pid = forked(CLONE_NEWPID, 0);
	if (pid == 0) {
		NEED(read(ends[0], &outside, sizeof(outside)));
		_exit(act(outside));
	}
	NEED(write(ends[1], &pid, sizeof(pid)));
	return exit_status(pid);
}

static int name_other(pid_t outside)
{
	if (forked(0, outside) == 0) {
		pause();
		_exit(0);
	}
	return name(outside);
}

static int name_itself(pid_t outside)
{
	(void)outside;
	return name(getpid());
}

static int attack(void)
{
	return inside(name_other);
}

static int control(void)
{
	return inside(name_itself);
}

REDTEAM(.attack = attack, .control = control)
