/* SPDX-License-Identifier: Apache-2.0 */
/* Additional streams that keep only the last message of each subject. */
#ifndef CORDON_FLEET_SIDE_STREAM_H
#define CORDON_FLEET_SIDE_STREAM_H

#include <nats/nats.h>

#include "fleet/store/intake.h"
#include "fleet/store/pull.h"

/* Messages per transaction; each may have the server's maximum size. */
#define SIDE_STREAM_GROUP 32

/*
 * Opens the stream named `stream` + `suffix`, with a consumer named `consumer` + `suffix`, and
 * creates both if they do not exist.
 */
natsStatus side_stream_open(natsConnection *connection, jsCtx *context, const char *stream,
			    const char *consumer, const char *suffix, const char *subject,
			    struct pull *ret_pull);

/*
 * Calls `take` for all new messages, and acknowledges them after they are on disk. Returns 0 to
 * continue, 1 to reconnect, or -ERRNO if the store fails.
 */
int side_stream_take(struct pull *pull, struct intake *intake,
		     int (*take)(struct intake *intake, natsMsg *message, struct failure *failure),
		     struct failure *failure);

#endif
