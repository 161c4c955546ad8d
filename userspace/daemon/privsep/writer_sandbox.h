/* SPDX-License-Identifier: Apache-2.0 */
/* Drops the privileges of a log's writer before it accesses the log. */
#ifndef CORDON_DAEMON_WRITER_SANDBOX_H
#define CORDON_DAEMON_WRITER_SANDBOX_H

#include <sys/types.h>

#include "base/failure.h"

/*
 * Confines the process to the directory that is open as `directory_fd`, which becomes its root and
 * current directory. It runs as user `uid`, without capabilities, new privileges and network, with
 * the system calls that a writer needs, and with Landlock if the kernel has it. Call it as root,
 * with one thread. Returns 0, or -errno: the process is not confined and must exit.
 */
int writer_sandbox_enter(int directory_fd, uid_t uid, gid_t gid, struct failure *failure);

#endif
