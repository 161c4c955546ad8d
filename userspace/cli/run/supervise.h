/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for a running command towards whoever started `cordon run`: passes signals on, stops
 * and continues with it, feeds its standard input, and notices its end.
 */
#ifndef CORDON_CLI_SUPERVISE_H
#define CORDON_CLI_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cli/run/stdin_pump.h"

struct supervision {
	pid_t pid; /* a child of this process */
	int pidfd;
	int cgroup_fd;
	int socket;		 /* to the daemon, watched for its death only */
	uint64_t deadline;	 /* boot clock, ns; 0: none */
	int signal_fd;		 /* from supervise_signals() */
	bool asks;		 /* a SIGSTOP may be that of a call that waits */
	struct stdin_pump *pump; /* or NULL */
};

struct supervised {
	int status; /* as wait(2) reports it */
	struct rusage usage;
	bool daemon_lost;
	bool overdue; /* still alive at the deadline and the grace after it: killed from here */
};

/*
 * Keeps every signal from acting on this process from now on, and has them delivered through the
 * descriptor instead. To be called before the command is created, so that none falls between.
 * -errno of sigprocmask(2) or signalfd(2).
 */
int supervise_signals(int *ret_signal_fd);

/*
 * Returns when the command has ended and is reaped. -errno of what failed; the command is killed
 * then.
 */
int supervise(const struct supervision *supervision, struct supervised *ret_supervised);

/* Kills everything in the cgroup. -errno of the write to cgroup.kill. */
int supervise_kill(int cgroup_fd);

#endif
