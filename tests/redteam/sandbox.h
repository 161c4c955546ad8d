/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox as unprivileged programs make one: user and mount namespaces of its own, in which the
 * attacker has every capability.
 */
#ifndef CORDON_TESTS_REDTEAM_SANDBOX_H
#define CORDON_TESTS_REDTEAM_SANDBOX_H

#include <sched.h>
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static inline void write_text(const char *path, const char *text)
{
	int fd = NEED(open(path, O_WRONLY | O_CLOEXEC));

	NEED(write(fd, text, strlen(text)));
	close(fd);
}

static inline void enter_sandbox(int more)
{
	char map[64];
	uid_t uid = getuid();
	gid_t gid = getgid();

	NEED(unshare(CLONE_NEWUSER | CLONE_NEWNS | more));
	write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_text("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	write_text("/proc/self/gid_map", map);
	NEED(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

static inline void bind_at(const char *from, const char *to)
{
	NEED(mount(from, to, NULL, MS_BIND, NULL));
}

static inline void make_own_directory(const char *name)
{
	if (mkdir(name, 0755) < 0 && errno != EEXIST)
		broken(name);
}

/* With a directory of the attacker's, which is there or is made, that shows another one. */
static inline void enter_with(const char *from, const char *at)
{
	enter_sandbox(0);
	make_own_directory(at);
	bind_at(from, at);
}

/* Nobody leaves a sandbox again: whoever enters one is a child. */
#define REDTEAM_INSIDE(attacked, allowed)                                                          \
	static int attack(void)                                                                    \
	{                                                                                          \
		return in_child(attacked);                                                         \
	}                                                                                          \
	static int control(void)                                                                   \
	{                                                                                          \
		return in_child(allowed);                                                          \
	}                                                                                          \
	REDTEAM(.attack = attack, .control = control)

#endif
