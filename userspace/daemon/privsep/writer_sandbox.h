/* SPDX-License-Identifier: Apache-2.0 */
/* What a log's writer gives up before it touches the log. */
#ifndef CORDON_DAEMON_WRITER_SANDBOX_H
#define CORDON_DAEMON_WRITER_SANDBOX_H

#include <sys/types.h>

#include "base/failure.h"

/*
 * Confines the process to the directory that is open as `directory_fd`, which becomes its root and
 * current one: as user `uid` without capabilities and new privileges, without network, with the
 * system calls that a writer needs, and by Landlock where the kernel has it. To be called as root,
 * with one thread. -errno: it is not confined, and must not go on.
 */
int writer_sandbox_enter(int directory_fd, uid_t uid, gid_t gid, struct failure *failure);

#endif
