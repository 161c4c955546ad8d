/* SPDX-License-Identifier: Apache-2.0 */
/* Drops all privileges of a helper process of the daemon, before it reads its first byte. */
#ifndef CORDON_DAEMON_SANDBOX_H
#define CORDON_DAEMON_SANDBOX_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/failure.h"

struct sandbox {
	int root_fd; /* a directory: its root, and all that it can name */
	bool writes; /* files below it may be read and written; false: nothing can be opened */
	bool threads;
	uid_t uid;
	gid_t gid;
	rlim_t files; /* maximum of descriptors */
	const char *const *
		/* System calls by name, NULL-terminated; mmap and mprotect without PROT_EXEC. */
		calls;
};

/*
 * Sets root, limits, user and group, no_new_privs, Landlock (if the kernel has it) and seccomp.
 * Call it as root, with a single thread. Returns 0, or -errno: a part failed, and the process must
 * exit.
 */
int sandbox_enter(const struct sandbox *sandbox, struct failure *failure);

#endif
