/* SPDX-License-Identifier: Apache-2.0 */
/* What clients ask for: one function per operation of the protocol. */
#ifndef CORDON_DAEMON_DISPATCH_H
#define CORDON_DAEMON_DISPATCH_H

#include <jansson.h>
#include <stdbool.h>

#include "daemon/server/connection.h"
#include "control/protocol.h"

/*
 * Answers a request, or has it answered later. True if it was understood as one; false: the
 * connection, which was told why, is not worth keeping.
 */
bool dispatch(struct connection *c, json_t *message, struct protocol_fds *fds);

#endif
