/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a daemon finds of one that died: executions whose owner's connection died with it. They were
 * confined all the time. Those whose owner is alive go on under this daemon; the others are ended,
 * and what they left on the host is removed. All of it is on record.
 */
#ifndef CORDON_DAEMON_RECOVERY_H
#define CORDON_DAEMON_RECOVERY_H

#include "daemon/execution/execution.h"

/*
 * Before connections are accepted. Reads /run/cordon and the kernel's maps, and waits for nothing
 * else: logs, policies and work directories are read by processes beside the loop
 * (recovery_work.h), and executions are ended as at any time. -ENOMEM; -errno of /run/cordon.
 */
int recovery_run(struct daemon *daemon, struct failure *failure);

/* For recovery_work.c. Records that a change of policy, which was on record, was not made. */
void recovery_record_change(struct execution *e);
/* The cause of the end of one that cannot go on. */
enum audit_end_cause recovery_cause(const struct execution *e);
/* Counts, and reports, what could not be removed. `r`: negative errno. */
void recovery_note_failure(struct daemon *daemon, const char *what, const char *name, int r);

#endif
