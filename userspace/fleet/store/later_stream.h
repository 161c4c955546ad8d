/* SPDX-License-Identifier: Apache-2.0 */
/* Reads acknowledged messages once more from their streams, host after host: see later.h. */
#ifndef CORDON_FLEET_LATER_STREAM_H
#define CORDON_FLEET_LATER_STREAM_H

#include <nats/nats.h>

#include "fleet/store/intake.h"

struct later_stream {
	jsCtx *context;		     /* borrowed */
	const char *stream;	     /* of the records; borrowed */
	char host[DELIVERY_ID_SIZE]; /* the one that had its turn last */
};

void later_stream_open(jsCtx *context, const char *stream, struct later_stream *ret_stream);

/*
 * For so long, ns, or a little longer. 0: go on; 1: connect anew; negative: the store's own
 * failure.
 */
int later_stream_turn(struct later_stream *stream, struct intake *intake, uint64_t nsec,
		      struct failure *failure);

#endif
