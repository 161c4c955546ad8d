/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a command. The child is created inside its cgroup and held. It sets up identity, limits,
 * environment and descriptors with its privileges, is labelled by the daemon from outside, and only
 * then executes the command. Invariant: no exec without a label.
 */
#ifndef CORDON_LAUNCH_LAUNCH_H
#define CORDON_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "launch/signals.h"
#include "launch/streams.h"
#include "policy/core/compiled.h"

struct launch_identity {
	bool change; /* false: keep the caller's identity */
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t group_count;
	char *name; /* for USER and LOGNAME, or NULL */
	char *home; /* or NULL */
};

struct launch {
	char *const *argv;	  /* searched in the PATH of `environment` unless it has a '/' */
	char *const *environment; /* complete, NULL-terminated */
	int workdir_fd;
	int cgroup_fd;		   /* of the execution's cgroup; -1: stay */
	int streams[STREAM_COUNT]; /* become descriptors 0 to 2; -1: inherit the caller's */
	const struct launch_identity *identity;
	const struct policy_limits *limits; /* per-process resource limits */
	uint64_t capabilities;		    /* ceiling; others leave all sets, also bounding */
	bool keep_descriptors; /* inherit the caller's descriptors that lack close-on-exec */
	int filter_fd;	       /* from seccomp_filter_build(); -1: no filter */
	/* Signal state of the command; NULL: the current one. */
	const struct signal_state *signals;
};

/* The child is killed when the calling thread ends. */
struct launched {
	pid_t pid;
	int pidfd;     /* closed by the caller after launch_go() succeeded */
	int go_fd;     /* one byte permits the exec; closing it aborts */
	int status_fd; /* read end: `struct child_report` */
};

/*
 * Creates the child and waits until it is ready and held. The caller then has it labelled and calls
 * launch_go() or launch_abort(). Returns 0, or -ERRNO with *failure set; the child is then reaped.
 */
int launch_start(const struct launch *launch, struct launched *ret_launched,
		 struct failure *failure);

/*
 * Permits the exec and waits for its result. Returns 0 if the command runs, or if a pending signal
 * killed it. Otherwise the child is reaped, and the result is -ENOENT if the program was not found,
 * -ECHILD if the held child was killed, or the -ERRNO of exec (-EACCES: denied or not executable).
 */
int launch_go(struct launched *launched, struct failure *failure);

/* Kills a held child. */
void launch_abort(struct launched *launched);

#endif
