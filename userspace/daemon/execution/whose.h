/* SPDX-License-Identifier: Apache-2.0 */
/* Which execution has a process, or a cgroup: for `cordon who`. */
#ifndef CORDON_DAEMON_WHOSE_H
#define CORDON_DAEMON_WHOSE_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/execution/execution.h"

/*
 * By the label of the process, which alone says what confines it. -ESRCH: no such process; -ENOENT:
 * it has no label.
 */
int whose_process(struct daemon *daemon, pid_t pid, struct execution **ret_execution);

/*
 * By the kernel's number of an execution's own cgroup, as sockets keep that of whoever made them.
 * -ENOENT.
 */
int whose_cgroup(struct daemon *daemon, uint64_t cgroup, struct execution **ret_execution);

#endif
