/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executions that the kernel made of an executor's children. The kernel has labelled them; everything that
 * `cordon run` and execution_label() do for others is done here, while they are held.
 */
#ifndef CORDON_DAEMON_ADOPTED_H
#define CORDON_DAEMON_ADOPTED_H

#include "daemon/execution/execution.h"

/*
 * An event of an execution that the daemon does not know yet. True: it does now, or the event tells of a
 * refusal; false: the slot is of no executor's.
 */
bool adopted_event(struct daemon *daemon, const struct cordon_event *event, size_t size);

/* Before any other record of it: events can come before the program is in place. */
void adopted_need_start(struct execution *e);

/* Its program is in place. Does what comes before its first instruction, and lets it go. */
void adopted_begin(struct execution *e);

/* The event that its first process has ended. */
void adopted_exit(struct execution *e, const struct cordon_exit_event *event);

/* Those of which events were lost, or that an earlier daemon left. */
void adopted_scan(struct daemon *daemon);

/* After a restart: its record is known, it goes on. */
void adopted_resume(struct execution *e);

/* For the end of its life: what it is watched by. */
void adopted_release(struct execution *e);

#endif
