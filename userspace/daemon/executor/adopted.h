/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executions that the kernel made of an executor's children. The kernel has labelled them;
 * everything that `cordon run` and execution_label() do for others is done here, while they are
 * held.
 */
#ifndef CORDON_DAEMON_ADOPTED_H
#define CORDON_DAEMON_ADOPTED_H

#include "daemon/execution/adopted_calls.h"
#include "daemon/execution/execution.h"

/* For daemon->adopted, before there is any execution. */
extern const struct adopted_calls adopted_calls;

/* Those of which events were lost, or that an earlier daemon left. */
void adopted_scan(struct daemon *daemon);

/* After a restart: its record is known, it goes on. */
void adopted_resume(struct execution *e);

#endif
