/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who shares what was made in /tmp, /var/tmp and /dev/shm, under policies with `temporary: own`:
 * the executions of one session, or without one those in one work directory, which can leave each
 * other files there as well; and always of one user, and for one.
 */
#ifndef CORDON_DAEMON_EXECUTION_TEMPORARY_H
#define CORDON_DAEMON_EXECUTION_TEMPORARY_H

#include "base/failure.h"
#include "daemon/execution/execution.h"

/*
 * Tells the kernel, of an execution in which nothing runs yet: its slot is bound, its session, user
 * and work directory are known. -ENOMEM; -EIO: libcrypto refused.
 */
int execution_set_temporary_owner(struct execution *e, struct failure *failure);

#endif
