/* SPDX-License-Identifier: Apache-2.0 */
/* Approvals in the daemon: what authorised people say. */
#ifndef CORDON_DAEMON_APPROVE_H
#define CORDON_DAEMON_APPROVE_H

#include "daemon/server/connection.h"

/* The group whose members may decide, besides root. */
#define APPROVE_GROUP "cordon-approvers"

bool approve_is_authorised(const struct peer *peer);

/* -EOPNOTSUPP: this daemon has no approvals, and whoever asks was told. */
int approve_not_required(struct connection *c);

/* The two requests, answered; a grant later, when all that it lets in is known. */
void approve_decide(struct connection *c, json_t *message);
void approve_list(struct connection *c, json_t *message);

/* The connection is to be closed: nobody waits for its grant any more, and it is not made. */
void approve_forget(struct connection *c);

#endif
