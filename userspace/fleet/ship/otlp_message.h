/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of lines as OpenTelemetry takes logs by HTTP: OTLP in JSON, each line as it is in a
 * record's body. Pure.
 */
#ifndef CORDON_FLEET_OTLP_MESSAGE_H
#define CORDON_FLEET_OTLP_MESSAGE_H

#include "fleet/ship/batch.h"

/*
 * *ret: the request's body, in place of what it held. -ENOMEM; -EBADMSG: a line that is no record.
 */
int otlp_message(const struct batch *batch, struct buffer *ret);

/*
 * How many records of a request that was taken the answer says were refused, 0 where it says
 * nothing; why, as far as it says: caller frees *ret_why, which may be NULL.
 */
uint64_t otlp_refused(const char *answer, size_t size, char **ret_why);

#endif
