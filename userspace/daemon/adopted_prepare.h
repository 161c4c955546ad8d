/* SPDX-License-Identifier: Apache-2.0 */
/* Before the first instruction of an adopted execution. */
#ifndef CORDON_DAEMON_ADOPTED_PREPARE_H
#define CORDON_DAEMON_ADOPTED_PREPARE_H

#include "daemon/execution/execution.h"

/*
 * Overwrites variables where the kernel could not, takes digests, looks at place and descriptors, applies limits.
 * Any failure: the execution must not begin; `failure` says why. -ESRCH and others: its process is gone.
 */
int adopted_prepare(struct execution *e, struct failure *failure);

#endif
