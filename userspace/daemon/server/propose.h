/* SPDX-License-Identifier: Apache-2.0 */
/* The request that asks for what was refused. An errand finds out what that would allow. */
#ifndef CORDON_DAEMON_PROPOSE_H
#define CORDON_DAEMON_PROPOSE_H

#include <jansson.h>

#include "daemon/server/connection.h"

/* Answers at once, or when c->propose_pending is NULL again. */
void propose(struct connection *c, json_t *message);

/* The connection ends before there is an answer: nothing was asked for. */
void propose_forget(struct connection *c);

#endif
