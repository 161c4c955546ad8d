/* SPDX-License-Identifier: Apache-2.0 */
/* Streams beside that of the records, which keep the last message of each subject. */
#ifndef CORDON_FLEET_SIDE_STREAM_H
#define CORDON_FLEET_SIDE_STREAM_H

#include <nats/nats.h>

#include "fleet/store/intake.h"

/*
 * The stream is `stream` with `suffix` behind it, and made if it is not there; its consumer is
 * named after `consumer` in the same way.
 */
natsStatus side_stream_open(jsCtx *context, const char *stream, const char *consumer,
			    const char *suffix, const char *subject,
			    natsSubscription **ret_subscription);

/*
 * Gives what has come to `take`, and acknowledges it once it is on disk: all of it, `most` messages
 * at once. 0: go on; 1: connect anew; negative: the store's own failure.
 */
int side_stream_take(natsSubscription *subscription, struct intake *intake, int most,
		     int (*take)(struct intake *intake, natsMsg *message, struct failure *failure),
		     struct failure *failure);

#endif
