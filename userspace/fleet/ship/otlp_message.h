/* SPDX-License-Identifier: Apache-2.0 */
/* Formats log lines as OTLP in JSON, with each line unchanged in a log record's body. No I/O. */
#ifndef CORDON_FLEET_OTLP_MESSAGE_H
#define CORDON_FLEET_OTLP_MESSAGE_H

#include "fleet/ship/batch.h"
#include "fleet/ship/presence.h"

/*
 * Formats the body of a request; replaces the contents of *ret. Records of the queue "first" are
 * marked with cordon.lane, because the bulk queue sends them again. Returns 0, -EBADMSG if a line
 * is not a record, or -ENOMEM.
 */
int otlp_message(const struct batch *batch, struct buffer *ret);

/* Formats a presence message; `time` is wall-clock time in ns. Returns 0 or -ENOMEM. */
int otlp_presence_message(const struct presence *presence, uint64_t time, struct buffer *ret);

/*
 * Returns how many records of an accepted request the response reports as rejected, or 0. *ret_why:
 * the collector's reason or NULL; the caller frees it.
 */
uint64_t otlp_refused(const char *answer, size_t size, char **ret_why);

#endif
