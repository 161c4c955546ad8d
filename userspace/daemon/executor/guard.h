/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that does nothing but wait for the daemon to be gone, however that comes about, and
 * then sees to those that the daemon had held at their first instruction: nothing stays stopped.
 */
#ifndef CORDON_DAEMON_GUARD_H
#define CORDON_DAEMON_GUARD_H

#include <sys/types.h>

#include "base/failure.h"

/*
 * Starts it. *ret_fd: while any copy of this descriptor is open, it waits. Before the daemon has
 * sockets: it closes all else, but what it closes is open for a moment. -errno.
 */
int guard_start(int *ret_fd, struct failure *failure);

#endif
