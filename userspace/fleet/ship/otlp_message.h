/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of lines as OpenTelemetry takes logs by HTTP: OTLP in JSON, each line as it is in a
 * record's body. Pure.
 */
#ifndef CORDON_FLEET_OTLP_MESSAGE_H
#define CORDON_FLEET_OTLP_MESSAGE_H

#include "fleet/ship/batch.h"
#include "fleet/ship/presence.h"

/*
 * *ret: the request's body, in place of what it held; records of the first lane say that they are,
 * since they come in their turn as well. -ENOMEM; -EBADMSG: a line that is no record.
 */
int otlp_message(const struct batch *batch, struct buffer *ret);

/* The same of a word of presence at `time`, wall clock in ns. -ENOMEM. */
int otlp_presence_message(const struct presence *presence, uint64_t time, struct buffer *ret);

/*
 * How many records of a request that was taken the answer says were refused, 0 where it says
 * nothing; why, as far as it says: caller frees *ret_why, which may be NULL.
 */
uint64_t otlp_refused(const char *answer, size_t size, char **ret_why);

#endif
