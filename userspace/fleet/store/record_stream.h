/* SPDX-License-Identifier: Apache-2.0 */
/* One message of the stream of records, whichever way it was read. */
#ifndef CORDON_FLEET_RECORD_STREAM_H
#define CORDON_FLEET_RECORD_STREAM_H

#include <nats/nats.h>

#include "fleet/store/intake.h"

/*
 * Takes it in, within a transaction. -EAGAIN: it cannot be decided now, *failure says why; other
 * errors are the store's own.
 */
int record_stream_take(struct intake *intake, natsMsg *message, struct failure *failure);

/*
 * Whose it is and which records it is said to have, by its subject and headers alone. False: it
 * does not say.
 */
bool record_stream_origin(natsMsg *message, struct delivery *ret_delivery);

#endif
