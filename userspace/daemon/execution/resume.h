/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An execution that an earlier daemon began, and that goes on under this one: its label, its policy
 * and its tasks are in the kernel, where nothing changed for it meanwhile.
 */
#ifndef CORDON_DAEMON_RESUME_H
#define CORDON_DAEMON_RESUME_H

#include "daemon/execution/execution.h"

/*
 * Watches its owner, and arms its deadline. Its record, log and start are filled in. -ESRCH: its
 * owner is gone; -ENOENT: it was not begun, or is ending. Then it stays as it was, to be ended.
 */
int resume(struct execution *e);

/*
 * Has this daemon use the policy that is in force in the kernel, which is filled in
 * (recovered_policy, which it takes over). -EBADMSG: it is another one, or not known in full;
 * -ENOMEM.
 */
int resume_policy(struct execution *e);

/* With its policy: what waits for an answer may ask again. */
void resume_asking(struct execution *e);

#endif
