/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An execution that an earlier daemon began, and that goes on under this one: its label, its policy
 * and its tasks are in the kernel, where nothing changed for it meanwhile.
 */
#ifndef CORDON_DAEMON_RESUME_H
#define CORDON_DAEMON_RESUME_H

#include "daemon/execution/execution.h"

/*
 * Its record, log, start and policy (recovered_policy, which it takes over) are filled in. -ESRCH:
 * its owner is gone; -EBADMSG: the policy is not the one that is in force in the kernel, or not
 * known in full; -ENOENT: it was not begun, or is ending. Then it stays as it was, to be ended.
 */
int resume(struct execution *e);

/*
 * The second half of that, alone: has this daemon use the policy that is in force in the kernel.
 * -EBADMSG; -ENOMEM.
 */
int resume_policy(struct execution *e);

#endif
