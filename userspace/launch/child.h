/* SPDX-License-Identifier: Apache-2.0 */
/* What the child does between its creation and the exec of the command. */
#ifndef CORDON_LAUNCH_CHILD_H
#define CORDON_LAUNCH_CHILD_H

#include <sys/types.h>

#include "launch/launch.h"
#include "launch/privileges.h"
#include "launch/seccomp.h"
#include "launch/signals.h"

enum child_step {
	CHILD_READY, /* not a failure: it waits for the go */
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

/* What it writes to the status pipe: once when it is held, once more if the exec fails. */
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
	bool join_cgroup;     /* it was not created inside launch->cgroup_fd */
	int go_fd, status_fd; /* its ends, both close-on-exec */
};

/* Every signal is blocked at the call. Async-signal-safe: the parent may have threads. */
_Noreturn void child_run(const struct child_plan *plan);

#endif
