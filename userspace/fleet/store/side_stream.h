/* SPDX-License-Identifier: Apache-2.0 */
/* Streams beside that of the records, which keep the last message of each subject. */
#ifndef CORDON_FLEET_SIDE_STREAM_H
#define CORDON_FLEET_SIDE_STREAM_H

#include <nats/nats.h>

#include "fleet/store/intake.h"
#include "fleet/store/pull.h"

/* Messages of one transaction; each may be as large as the server lets messages be. */
#define SIDE_STREAM_GROUP 32

/*
 * The stream is `stream` with `suffix` behind it, and made if it is not there; its consumer is
 * named after `consumer` in the same way.
 */
natsStatus side_stream_open(natsConnection *connection, jsCtx *context, const char *stream,
			    const char *consumer, const char *suffix, const char *subject,
			    struct pull *ret_pull);

/*
 * Gives all that has come to `take`, and acknowledges it once it is on disk. 0: go on; 1: connect
 * anew; negative: the store's own failure.
 */
int side_stream_take(struct pull *pull, struct intake *intake,
		     int (*take)(struct intake *intake, natsMsg *message, struct failure *failure),
		     struct failure *failure);

#endif
