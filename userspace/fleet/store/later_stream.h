/* SPDX-License-Identifier: Apache-2.0 */
/* Reads deferred messages again from their streams, host by host: see later.h. */
#ifndef CORDON_FLEET_LATER_STREAM_H
#define CORDON_FLEET_LATER_STREAM_H

#include <nats/nats.h>

#include "fleet/store/intake.h"

struct later_stream {
	jsCtx *context;		     /* not owned */
	const char *stream;	     /* of the records; not owned */
	char host[DELIVERY_ID_SIZE]; /* host of the last time slice */
};

void later_stream_open(jsCtx *context, const char *stream, struct later_stream *ret_stream);

/*
 * Reads messages for about `nsec` ns. Returns 0 to continue, 1 to reconnect, or -ERRNO if the store
 * fails.
 */
int later_stream_turn(struct later_stream *stream, struct intake *intake, uint64_t nsec,
		      struct failure *failure);

#endif
