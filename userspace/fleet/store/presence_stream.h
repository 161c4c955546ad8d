/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives the stream with the last presence message of each host, and checks the server's
 * connections of hosts with overdue messages.
 */
#ifndef CORDON_FLEET_PRESENCE_STREAM_H
#define CORDON_FLEET_PRESENCE_STREAM_H

#include <nats/nats.h>

#include "fleet/store/intake.h"
#include "fleet/store/pull.h"

struct presence_stream {
	natsConnection *connection; /* not owned */
	struct pull said;
	uint64_t reconnects; /* the connection's reconnects so far */
	uint64_t since;	     /* wall clock: last reconnect noticed, or opened */
};

/*
 * Opens the stream and creates it if it does not exist. Its name and consumer are derived from
 * `stream` and `consumer` of the records.
 */
natsStatus presence_stream_open(natsConnection *connection, jsCtx *context, const char *stream,
				const char *consumer, struct presence_stream *ret_stream);
void presence_stream_close(struct presence_stream *stream);

/*
 * Stores new messages, and checks hosts with overdue ones. Returns 0 to continue, 1 to reconnect,
 * or -ERRNO if the store fails.
 */
int presence_stream_turn(struct presence_stream *stream, struct intake *intake,
			 struct failure *failure);

#endif
