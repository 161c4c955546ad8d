/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request needs that takes time is seen to by processes of their own before the request is
 * dispatched: its policy, which is compiled if it is not resident, whom the names in that stand
 * for, and a log's writer that is started again.
 */
#ifndef CORDON_DAEMON_AHEAD_H
#define CORDON_DAEMON_AHEAD_H

#include <jansson.h>

#include "control/protocol.h"
#include "daemon/server/connection.h"

/* So long the databases of users have. */
#define AHEAD_SECONDS 5

/*
 * To be dispatched now; the message and the descriptors that are left in `fds` go afterwards. May
 * end the connection. NULL: nobody knew, and the client was told.
 */
typedef void ahead_ready(struct connection *c, json_t *message, struct protocol_fds *fds);

/*
 * 0: nothing is missing, dispatch it. 1: it is asked for; message and descriptors are taken over,
 * and `ready` is called when the answer is there, or none will be. -errno: nobody can be asked.
 */
int ahead_start(struct connection *c, json_t **message, struct protocol_fds *fds,
		ahead_ready *ready, struct failure *failure);

/* The connection ends before there is an answer. */
void ahead_cancel(struct connection *c);

#endif
