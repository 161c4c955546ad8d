/* SPDX-License-Identifier: Apache-2.0 */
/* Sends records and requests to a log's writer, with at most one request in progress. */
#ifndef CORDON_DAEMON_WRITER_ASK_H
#define CORDON_DAEMON_WRITER_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer;

/* Queues a request as the next one. No other request may be in progress. */
void writer_ask(struct writer *writer, uint32_t request, const void *payload, size_t size);
/* Sends pending records and requests, as far as the socket has room. Returns 0, or -errno. */
int writer_ask_on(struct writer *writer);

/* Is the request pending, or in progress? */
bool writer_ask_is_open(const struct writer *writer, uint32_t request);
/* Returns for how long the request in progress has had no reply, or 0 without one. */
uint64_t writer_ask_silent_nsec(const struct writer *writer);

#endif
