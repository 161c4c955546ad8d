/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a command in the process shape that cordon promises: the child is created inside its
 * cgroup, held, made ready with what privileges it has (identity, limits, environment,
 * descriptors), labelled by the daemon from outside, and only then executes the command. No label,
 * no exec.
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
	bool change; /* false: stay who we are */
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t group_count;
	char *name; /* for USER and LOGNAME, or NULL */
	char *home; /* or NULL */
};

struct launch {
	char *const
		*argv; /* argv[0] is looked up in the PATH of `environment` unless it has a '/' */
	char *const *environment; /* complete, NULL-terminated */
	int workdir_fd;
	int cgroup_fd;		   /* of the execution's cgroup; -1: stay */
	int streams[STREAM_COUNT]; /* become descriptors 0 to 2; -1: inherit ours */
	const struct launch_identity *identity;
	const struct policy_limits *limits; /* those that are resource limits of a process */
	uint64_t capabilities; /* ceiling: the rest leaves every set, the bounding set included */
	bool keep_descriptors; /* those that the caller has without close-on-exec come along */
	int filter_fd;	       /* from seccomp_filter_build(); -1: no filter */
	/* What the command starts with; NULL: what is in force at the call. */
	const struct signal_state *signals;
};

/* The child's parent is the calling thread: the child is killed when that thread ends. */
struct launched {
	pid_t pid;
	int pidfd;     /* the caller's to close after launch_go() succeeded */
	int go_fd;     /* one byte lets it exec; closing it ends it */
	int status_fd; /* read end: `struct child_report` */
};

/*
 * Creates the child and waits until it is ready and held. The caller then has it labelled and
 * calls launch_go() or launch_abort().
 * -errno with `failure` when any step fails; the child is gone then.
 */
int launch_start(const struct launch *launch, struct launched *ret_launched,
		 struct failure *failure);

/*
 * Lets the child exec and waits for the outcome. 0: the command runs, or died of a signal that was
 * pending for it; -ENOENT: not found; -ECHILD: the held child was killed meanwhile; other: exec
 * failed with that (-EACCES: denied or not executable). Unless 0, the child is gone and reaped.
 */
int launch_go(struct launched *launched, struct failure *failure);

/* Ends a held child. */
void launch_abort(struct launched *launched);

#endif
