/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a daemon finds of one that died: executions whose owner's connection died with it. They
 * were confined all the time; nobody can take them over, so they are ended, and what they left
 * on the host is removed. All of it is on record.
 */
#ifndef CORDON_DAEMON_RECOVERY_H
#define CORDON_DAEMON_RECOVERY_H

#include "daemon/execution/context.h"

/*
 * Before connections are accepted. Blocks until every found execution is dead, some seconds at
 * the most. -ETIMEDOUT: one survives.
 */
int recovery_run(struct daemon *daemon, struct failure *failure);

/* Takes from its log what an earlier daemon has told of it: its start, its end, and events. */
void recovery_recall(struct execution *e);

#endif
