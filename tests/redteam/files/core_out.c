// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: crashes in a directory outside, where the kernel would write its memory
 * Hook: path_mknod
 * Errno: EACCES
 * Control: does so in its own directory
 * Record: create $VICTIM/dir/core
 * As: root
 */
#include <sys/resource.h>

#include "tests/redteam/attack.h"

static int dump_in(const char *directory)
{
	struct rlimit limit = {1 << 24, 1 << 24};
	pid_t pid = NEED(fork());
	struct stat status;

	if (pid == 0) {
		NEED(setrlimit(RLIMIT_CORE, &limit));
		NEED(chdir(directory));
		abort();
	}
	NEED(waitpid(pid, NULL, 0));
	return stat(in_directory(directory, "core"), &status) < 0 ? EACCES : 0;
}

static int attack(void)
{
	return dump_in(victim("dir"));
}

static int control(void)
{
	return dump_in(".");
}

REDTEAM(.attack = attack, .control = control)
