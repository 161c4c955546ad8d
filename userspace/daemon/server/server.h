/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: connections, who they are, what they ask, what they are told. */
#ifndef CORDON_DAEMON_SERVER_H
#define CORDON_DAEMON_SERVER_H

#include <stddef.h>

#include "daemon/execution/context.h"
#include "daemon/execution/execution.h"

/*
 * Binds the control socket (0600, or 0660 for PEER_GROUP), and likewise the status socket for
 * PEER_STATUS_GROUP and the one for `who` for PEER_WHO_GROUP, stale ones replaced: the caller holds
 * the daemon's lock, and lets daemon->server be *ret_server before an event is handled. From then
 * on whoever waits for the end of an execution is told.
 */
int server_start(struct daemon *daemon, struct server **ret_server, struct failure *failure);

/* After the start: lets members of groups in that daemon->names has by now. */
void server_groups_known(struct server *server);

/* Accepts no more; the socket's name goes. Connections stay. */
void server_stop_accepting(struct server *server);

/* Closes everything. */
void server_free(struct server *server);

size_t server_connections(const struct server *server);

/* To be unloaded when the last execution is gone, even if whoever asked for that has left. */
void server_request_stop(struct server *server);

bool server_stop_requested(const struct server *server);

/* Answers those who wait for that: enforcement is unloaded (0), or why not. */
void server_stopped(struct server *server, int error, const char *message);

#endif
