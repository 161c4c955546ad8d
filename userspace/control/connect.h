/* SPDX-License-Identifier: Apache-2.0 */
/* Connects a client to a daemon, and starts one if necessary. */
#ifndef CORDON_DAEMON_CONNECT_H
#define CORDON_DAEMON_CONNECT_H

#include "base/failure.h"
#include "control/embedded.h"

/*
 * Connects as client_connect(). If no daemon runs and the caller is root, starts an embedded daemon
 * and waits until it accepts connections; many callers may do this at once. Also waits for an
 * exiting daemon, and some seconds for one with too many clients.
 *
 * Returns 0, -EPERM if none runs and the caller is not root, or -EUSERS if there are too many
 * clients. If the new daemon cannot start, *failure has its reason. `step` is called with the
 * progress of the start; may be NULL.
 */
int client_connect_or_start(embedded_step *step, void *data, int *ret_socket,
			    struct failure *failure);

#endif
