/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command of the host's owner that is asked about each execution of an executor while its process
 * is held, and may refuse it. It runs as nobody, with the code as its standard input, and the
 * daemon does not wait for it.
 */
#ifndef CORDON_DAEMON_GATE_H
#define CORDON_DAEMON_GATE_H

#include "daemon/execution/execution.h"

struct gate;

/* `refusal`: NULL: it may begin; else why not. Frees the gate. */
typedef void gate_answer(struct execution *e, const char *refusal);

/*
 * Starts `command` (NULL-terminated, [0] an absolute path). What it is given to read is what the
 * record's digest says; code that has changed since, or has more than 64 MiB, is refused. -errno of
 * fork(2) and others.
 */
int gate_start(struct execution *e, const char *const *command, gate_answer *answer,
	       struct gate **ret_gate, struct failure *failure);

/* Kills it, and what it has started, if it still runs; does not wait for its death. May be NULL. */
void gate_free(struct gate *gate);

#endif
