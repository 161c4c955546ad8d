/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process of the daemon's that needs no privileges keeps none of: before it reads its first
 * byte.
 */
#ifndef CORDON_DAEMON_SANDBOX_H
#define CORDON_DAEMON_SANDBOX_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/failure.h"

struct sandbox {
	int root_fd; /* a directory: its root, and all that it can name */
	bool writes; /* files below it may be read and written; else nothing can be opened */
	bool threads;
	uid_t uid;
	gid_t gid;
	rlim_t files; /* descriptors at most */
	const char *const *
		calls; /* system calls by name, NULL-terminated; mmap and mprotect without PROT_EXEC */
};

/*
 * Root, limits, user and group, no_new_privs, Landlock (where the kernel has it) and seccomp.
 * Single-threaded, as root. -errno: some of it failed, and the process must end.
 */
int sandbox_enter(const struct sandbox *sandbox, struct failure *failure);

#endif
