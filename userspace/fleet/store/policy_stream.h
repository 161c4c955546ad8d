/* SPDX-License-Identifier: Apache-2.0 */
/* Receives the stream of hosts' active policies. */
#ifndef CORDON_FLEET_POLICY_STREAM_H
#define CORDON_FLEET_POLICY_STREAM_H

#include "fleet/store/side_stream.h"

/* As side_stream_open() and side_stream_take(). */
natsStatus policy_stream_open(natsConnection *connection, jsCtx *context, const char *stream,
			      const char *consumer, struct pull *ret_pull);
int policy_stream_turn(struct pull *pull, struct intake *intake, struct failure *failure);

/* Stores the policy in one message. Returns 0, -EAGAIN if it must be deferred, or -ERRNO. */
int policy_stream_take(struct intake *intake, natsMsg *message, struct failure *failure);

#endif
