/* SPDX-License-Identifier: Apache-2.0 */
/* Publishes batches to NATS JetStream, and waits for the acknowledgement of each. */
#ifndef CORDON_FLEET_PUBLISHER_H
#define CORDON_FLEET_PUBLISHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "fleet/ship/batch.h"

#define PUBLISHER_STREAM "CORDON"

struct publisher;

struct publisher_options {
	const char *url;
	const char *credentials; /* a NATS credentials file, or NULL */
	const char *ca;		 /* PEM files, or NULL: no TLS unless the URL requires it */
	const char *certificate, *key;
	const char *inbox; /* prefix of reply subjects; "" or NULL: libnats's default */
	bool plain;	   /* send lines uncompressed */
};

/*
 * Tries to connect once. `options` must outlive *ret_publisher. Returns 0, -ECONNREFUSED if the
 * server cannot be reached, -EINVAL if libnats rejects an option, or -ENOMEM.
 */
int publisher_open(const struct publisher_options *options, struct publisher **ret_publisher,
		   struct failure *failure);
void publisher_close(struct publisher *publisher);
DEFINE_CLEANUP(struct publisher *, publisher_close, publisher_closep)

/*
 * Sends a batch. `id`: the message ID from which the stream detects duplicates. Returns 0 if the
 * stream has the message; *ret_duplicate: it already had a message with this ID.
 *
 * Returns -EAGAIN without an acknowledgement: send it again, with the same ID. Returns -EMSGSIZE if
 * it exceeds the server's max_payload, or -ENOMEM.
 */
int publisher_send(struct publisher *publisher, const struct batch *batch, const char *id,
		   bool *ret_duplicate, struct failure *failure);

/*
 * Publishes `text` on `subject`, without an acknowledgement. The first call also subscribes to
 * `here`, so that the server lists the subscription while this client is connected. Returns 0, or
 * -EAGAIN if libnats fails.
 */
int publisher_announce(struct publisher *publisher, const char *subject, const char *here,
		       const char *text);

/*
 * Publishes a policy, unless the stream has a message on this subject. Returns 0 if the stream has
 * it, -EAGAIN without an acknowledgement, or -EMSGSIZE if it exceeds the server's max_payload.
 */
int publisher_send_policy(struct publisher *publisher, const char *subject, const char *data,
			  size_t size);

/* Waits at most one second until the server has received all published messages. */
void publisher_flush(struct publisher *publisher);

/* Bytes of all messages sent, without headers. */
uint64_t publisher_bytes(const struct publisher *publisher);

#endif
