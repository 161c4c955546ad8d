/* SPDX-License-Identifier: Apache-2.0 */
/* Another command of cordon that runs for a call of a tool, and what it writes. It dies with us. */
#ifndef CORDON_CLI_MCP_JOB_H
#define CORDON_CLI_MCP_JOB_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/failure.h"
#include "cli/mcp/capture.h"

/* The descriptor on which a job finds the file for its report. */
#define JOB_REPORT "/dev/fd/3"

enum { JOB_OUTPUT, JOB_ERRORS, JOB_STREAMS };
/* What is polled for one. */
#define JOB_POLLED (JOB_STREAMS + 1)

struct job {
	pid_t pid; /* 0: none */
	int pidfd;
	int stream[JOB_STREAMS]; /* -1: at its end */
	struct capture capture[JOB_STREAMS];
	int report_fd; /* memfd */
	int status;    /* as wait(2) has it, once job_step() says so */
};

#define JOB_NONE {.pidfd = -1, .stream = {-1, -1}, .report_fd = -1}

/*
 * Starts this very program with other arguments, without input. `limit`: bytes that are
 * kept of the beginning and of the end of what it writes. -errno.
 */
int job_start(struct job *job, char *const *argv, size_t limit, struct failure *failure);

void job_poll(const struct job *job, struct pollfd polled[JOB_POLLED]);

/* Takes what there is. 1: it has ended, and all was read; 0: not yet; -ENOMEM. */
int job_step(struct job *job, const struct pollfd polled[JOB_POLLED]);

/*
 * Kills it and waits for that: an execution of its goes with it, by the daemon. Closes and frees
 * all, also where it has ended already.
 */
void job_release(struct job *job);

#endif
