/* SPDX-License-Identifier: Apache-2.0 */
/* The files below /run/cordon that keep daemons and those who start them apart. */
#ifndef CORDON_DAEMON_LOCK_H
#define CORDON_DAEMON_LOCK_H

#include <stdbool.h>

#include "base/failure.h"

/* Held by the one daemon for as long as it owns the enforcement. */
#define LOCK_DAEMON "lock"
/* Held while a daemon is being started, so that one of many callers does it. */
#define LOCK_START "start.lock"

/*
 * Opens and locks /run/cordon/NAME, making the directory (0755) and the file (0600) where they
 * are missing. Closing *ret_fd, or dying, unlocks. -EWOULDBLOCK: taken, unless `wait`.
 */
int lock_take(const char *name, bool wait, int *ret_fd, struct failure *failure);

/* Makes /run/cordon/NAME (0700) and opens it. */
int lock_subdirectory(const char *name, int *ret_fd, struct failure *failure);

#endif
