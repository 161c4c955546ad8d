// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has a thread of a child do what is refused
 * Hook: seccomp
 * Errno: EPERM
 * Control: has a thread work so
 * Record: system-call userfaultfd
 * As: root+filter user+filter
 */
#include <linux/userfaultfd.h>
#include <pthread.h>

#include "tests/redteam/attack.h"

static void *handle_faults(void *unused)
{
	(void)unused;
	return (void *)(long)outcome(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC));
}

static void *work(void *unused)
{
	(void)unused;
	return (void *)(long)use_own_file();
}

static int in_thread(void *(*action)(void *))
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, action, NULL) != 0 || pthread_join(thread, &result) != 0)
		return BROKEN;
	return (int)(long)result;
}

static int attack_in_thread(void)
{
	return in_thread(handle_faults);
}

static int control_in_thread(void)
{
	return in_thread(work);
}

static int attack(void)
{
	return in_child(attack_in_thread);
}

static int control(void)
{
	return in_child(control_in_thread);
}

REDTEAM(.attack = attack, .control = control)
