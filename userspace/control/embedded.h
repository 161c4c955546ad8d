/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded daemon: started by the first `cordon run` as root where no daemon runs, shared by
 * all that come, gone when idle. It is this same program, executed afresh.
 *
 * It tells its starter the outcome over a pipe: EMBEDDED_READY when it accepts connections,
 * EMBEDDED_BUSY when another daemon was faster, or EMBEDDED_FAILED and the reason as text.
 */
#ifndef CORDON_DAEMON_EMBEDDED_H
#define CORDON_DAEMON_EMBEDDED_H

#include "base/failure.h"

#define EMBEDDED_READY	'R'
#define EMBEDDED_BUSY	'B'
#define EMBEDDED_FAILED 'F'
/* The pipe's descriptor in the new process. */
#define EMBEDDED_PIPE_FD 3

/*
 * Starts one and waits until it accepts connections. The caller holds the start lock.
 * -EBUSY: another daemon has the enforcement; other: it could not start, and `failure` has its
 * reason.
 */
int embedded_start(struct failure *failure);

/* Called by the new process: sends the outcome, closes the pipe. */
void embedded_report(int pipe_fd, char outcome, const char *text);

#endif
