/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded daemon: started by the first `cordon run` as root where no daemon runs, shared by
 * all that come, gone when idle. It is this same program, executed afresh.
 *
 * It tells its starter the outcome over a pipe: EMBEDDED_READY when it accepts connections,
 * EMBEDDED_BUSY when another daemon was faster, or EMBEDDED_FAILED and the reason as text. Before
 * that come lines of EMBEDDED_STEP: how many programs are loaded, and of how many.
 */
#ifndef CORDON_DAEMON_EMBEDDED_H
#define CORDON_DAEMON_EMBEDDED_H

#include <stdint.h>

#include "base/failure.h"

#define EMBEDDED_READY	'R'
#define EMBEDDED_BUSY	'B'
#define EMBEDDED_FAILED 'F'
#define EMBEDDED_STEP	'S'
/* The pipe's descriptor in the new process. */
#define EMBEDDED_PIPE_FD 3

/* So many of `all` programs are loaded. */
typedef void embedded_step(void *data, uint64_t done, uint64_t all);

/*
 * Starts one and waits until it accepts connections. The caller holds the start lock. `step`: told
 * how far it is; may be NULL.
 * -EBUSY: another daemon has the enforcement; other: it could not start, and `failure` has its
 * reason.
 */
int embedded_start(embedded_step *step, void *data, struct failure *failure);

/* Called by the new process: so much is loaded. */
void embedded_tell(int pipe_fd, uint64_t done, uint64_t all);

/* Called by the new process: sends the outcome, closes the pipe. */
void embedded_report(int pipe_fd, char outcome, const char *text);

#endif
