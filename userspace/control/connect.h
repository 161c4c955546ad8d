/* SPDX-License-Identifier: Apache-2.0 */
/* How a client comes to have a daemon. */
#ifndef CORDON_DAEMON_CONNECT_H
#define CORDON_DAEMON_CONNECT_H

#include "base/failure.h"
#include "control/embedded.h"

/*
 * Connects as client_connect() does, but as root starts an embedded daemon where none runs, and
 * waits until it accepts; race-free among many callers. Also waits for a daemon that is just
 * leaving, and some seconds for one that has too many clients. `failure` carries the new daemon's
 * reason when it cannot start. -EPERM: none runs and the caller is not root; -EUSERS: too many
 * clients. `step` is told how far a daemon that is started here has loaded; may be NULL.
 */
int client_connect_or_start(embedded_step *step, void *data, int *ret_socket,
			    struct failure *failure);

#endif
