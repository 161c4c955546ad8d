/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the records in one message of the stream, new or deferred. */
#ifndef CORDON_FLEET_RECORD_STREAM_H
#define CORDON_FLEET_RECORD_STREAM_H

#include <nats/nats.h>

#include "fleet/store/intake.h"

/*
 * Stores the records within a transaction. Returns 0, -EAGAIN if the message must be deferred
 * (*failure has the reason), or an error of the store.
 */
int record_stream_take(struct intake *intake, natsMsg *message, struct failure *failure);

/* Reads host, log and range from subject and headers alone. Returns false if these are invalid. */
bool record_stream_origin(natsMsg *message, struct delivery *ret_delivery);

#endif
