/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded daemon. The first `cordon run` as root starts it if no daemon runs; all later ones
 * share it, and it exits when idle. It is this same program, executed again.
 *
 * It reports the result to its starter through a pipe: EMBEDDED_READY when it accepts connections,
 * EMBEDDED_BUSY if another daemon was faster, or EMBEDDED_FAILED with the reason as text. Before
 * that it sends EMBEDDED_STEP lines with the number of loaded programs, and of all.
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

/* Called when `done` of `all` programs are loaded. */
typedef void embedded_step(void *data, uint64_t done, uint64_t all);

/*
 * Starts a daemon and waits until it accepts connections. The caller holds the start lock. `step`
 * is called with the progress; may be NULL. Returns 0, -EBUSY if another daemon owns the
 * enforcement, or -ERRNO if it could not start, with its reason in *failure.
 */
int embedded_start(embedded_step *step, void *data, struct failure *failure);

/* Called by the new process: sends the progress. */
void embedded_tell(int pipe_fd, uint64_t done, uint64_t all);

/* Called by the new process: sends the result and closes the pipe. */
void embedded_report(int pipe_fd, char outcome, const char *text);

#endif
