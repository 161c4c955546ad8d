/* SPDX-License-Identifier: Apache-2.0 */
/* The stream that brings the policies that hosts have in force. */
#ifndef CORDON_FLEET_POLICY_STREAM_H
#define CORDON_FLEET_POLICY_STREAM_H

#include "fleet/store/side_stream.h"

/* As side_stream_open() and side_stream_take(). */
natsStatus policy_stream_open(natsConnection *connection, jsCtx *context, const char *stream,
			      const char *consumer, struct pull *ret_pull);
int policy_stream_turn(struct pull *pull, struct intake *intake, struct failure *failure);

/* One message, whichever way it was read. -EAGAIN: it cannot be decided now. */
int policy_stream_take(struct intake *intake, natsMsg *message, struct failure *failure);

#endif
