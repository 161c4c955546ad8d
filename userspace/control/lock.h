/* SPDX-License-Identifier: Apache-2.0 */
/* The locks below /run/cordon, which ensure that only one daemon runs or starts. */
#ifndef CORDON_DAEMON_LOCK_H
#define CORDON_DAEMON_LOCK_H

#include <stdbool.h>

#include "base/failure.h"

/* Held by the daemon while it owns the enforcement. */
#define LOCK_DAEMON "lock"
/* Held while a daemon is started, so that only one of many callers starts it. */
#define LOCK_START "start.lock"

/*
 * Opens and locks /run/cordon/NAME; creates the directory (0755) and the file (0600) if necessary.
 * Closing *ret_fd, or the end of the process, unlocks it. Returns 0, or -EWOULDBLOCK if it is
 * locked, unless `wait`.
 */
int lock_take(const char *name, bool wait, int *ret_fd, struct failure *failure);

/* Creates /run/cordon/NAME (0700) and opens it. */
int lock_subdirectory(const char *name, int *ret_fd, struct failure *failure);

#endif
