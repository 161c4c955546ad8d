/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream that has the last word of each host's shipper, and what the server knows of those
 * whose next word is overdue.
 */
#ifndef CORDON_FLEET_PRESENCE_STREAM_H
#define CORDON_FLEET_PRESENCE_STREAM_H

#include <nats/nats.h>

#include "fleet/store/intake.h"
#include "fleet/store/pull.h"

struct presence_stream {
	natsConnection *connection; /* borrowed */
	struct pull said;
	uint64_t reconnects; /* that the connection has had */
	uint64_t since;	     /* when the last of them was noticed, or it was opened; wall clock */
};

/*
 * Makes the stream if it is not there. `stream`, `consumer`: those of the records; these are named
 * after them.
 */
natsStatus presence_stream_open(natsConnection *connection, jsCtx *context, const char *stream,
				const char *consumer, struct presence_stream *ret_stream);
void presence_stream_close(struct presence_stream *stream);

/*
 * Takes in what was said, and asks for some that should have said something. 0: go on; 1: connect
 * anew; negative: the store's own failure.
 */
int presence_stream_turn(struct presence_stream *stream, struct intake *intake,
			 struct failure *failure);

#endif
