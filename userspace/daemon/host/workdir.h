/* SPDX-License-Identifier: Apache-2.0 */
/* Which directories may become an execution's ${workdir}, and so be opened to agent code. */
#ifndef CORDON_DAEMON_WORKDIR_H
#define CORDON_DAEMON_WORKDIR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/failure.h"

/*
 * Checks the directory itself, by identity, not its name: bind mounts and symlinks change nothing.
 * `passwd` names the user database, `own` (NULL-terminated) cordon's own directories.
 *
 * `cached`: uses the kernel's caches alone, because a file system may be unresponsive.
 *
 * -EAGAIN: the caches do not suffice; -ENOTDIR: not a directory; -EPERM: it is the root directory,
 * a system directory, a home directory of a user, contains one of these, or lies in a place that
 * belongs to the system or to cordon; -E2BIG: `own` has more than eight; else why `passwd` cannot
 * be read.
 */
int workdir_check(int fd, bool cached, const char *passwd, const char *const *own,
		  struct failure *failure);

/*
 * -EPERM: it is or lies in a log's directory, which is known by identity and whose file system may
 * not answer any more. `path`: for the message.
 */
int workdir_check_log(int fd, bool cached, const char *path, dev_t device, ino_t inode,
		      struct failure *failure);

/* Those that are none, by name; NULL-terminated. */
const char *const *workdir_system_directories(void);

#endif
