/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an execution's time is up: by its wall limit, or since whoever started it has asked it to
 * end.
 */
#ifndef CORDON_DAEMON_DEADLINE_H
#define CORDON_DAEMON_DEADLINE_H

#include "daemon/execution/execution.h"

/* Begins the wall limit. From e->start on: what has passed of it under an earlier daemon counts. */
void deadline_start(struct execution *e);

/* The executor has asked it to end: the kernel has said when its grace is over. */
void deadline_asked(struct execution *e);

/* Is its time up? */
bool deadline_is_over(const struct execution *e);

/* Which of the two it is that is over, or is the wall limit. */
enum audit_end_cause deadline_cause(const struct execution *e);

#endif
