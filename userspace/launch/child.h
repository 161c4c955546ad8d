/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the child between its creation and the exec of the command. */
#ifndef CORDON_LAUNCH_CHILD_H
#define CORDON_LAUNCH_CHILD_H

#include <sys/types.h>

#include "launch/launch.h"
#include "launch/privileges.h"
#include "launch/seccomp.h"
#include "launch/signals.h"

enum child_step {
	CHILD_READY, /* not a failure: held until the parent permits the exec */
	CHILD_PARENT,
	CHILD_CGROUP,
	CHILD_STREAMS,
	CHILD_TERMINAL,
	CHILD_LIMITS,
	CHILD_BOUNDING,
	CHILD_IDENTITY,
	CHILD_CAPABILITIES,
	CHILD_KEYRING,
	CHILD_WORKDIR,
	CHILD_NO_NEW_PRIVS,
	CHILD_DESCRIPTORS,
	CHILD_FILTER,
	CHILD_EXEC,
};

/* Sent through the status pipe: once when the child is held, again if the exec fails. */
struct child_report {
	enum child_step step;
	int error; /* positive errno; 0 with CHILD_READY */
};

struct child_plan {
	const struct launch *launch;
	struct privileges privileges;
	struct signal_state signals;
	struct sock_fprog filter;
	pid_t parent;
	bool join_cgroup;     /* not created inside launch->cgroup_fd */
	int go_fd, status_fd; /* the child's ends, close-on-exec */
};

/*
 * Runs the child. All signals must be blocked. Async-signal-safe, because the parent may have
 * threads.
 */
_Noreturn void child_run(const struct child_plan *plan);

#endif
