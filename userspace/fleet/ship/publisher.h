/* SPDX-License-Identifier: Apache-2.0 */
/* Publishes batches to NATS JetStream, and waits for the stream to have each. */
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
	const char *credentials; /* a file of NATS's, or NULL */
	const char *ca;		 /* files in PEM, or NULL: not TLS unless the URL says so */
	const char *certificate, *key;
	const char
		*inbox; /* what subjects of answers begin with, "" or NULL: the library's choice */
	bool plain;	/* lines as they are, not as gzip */
};

/*
 * Tries once. `options` is borrowed. -ECONNREFUSED: cannot be reached; -EINVAL: the options are
 * wrong; -ENOMEM.
 */
int publisher_open(const struct publisher_options *options, struct publisher **ret_publisher,
		   struct failure *failure);
void publisher_close(struct publisher *publisher);
DEFINE_CLEANUP(struct publisher *, publisher_close, publisher_closep)

/*
 * `id`: by which the stream knows the message again. 0: the stream has it; *ret_duplicate: it had a
 * message with this id before. -EAGAIN: it did not acknowledge: send it again, with the same id;
 * -EMSGSIZE: larger than the server takes; -ENOMEM.
 */
int publisher_send(struct publisher *publisher, const struct batch *batch, const char *id,
		   bool *ret_duplicate, struct failure *failure);

/*
 * Says `text` on `subject` once, to whoever hears it, and from then on listens on `here` without
 * hearing anything: the server can tell that it does. -EAGAIN: it could not be said.
 */
int publisher_announce(struct publisher *publisher, const char *subject, const char *here,
		       const char *text);

/*
 * 0: the stream of policies has the one on this subject, or had it before. -EAGAIN: it did not say
 * so; -EMSGSIZE: larger than the server takes.
 */
int publisher_send_policy(struct publisher *publisher, const char *subject, const char *data,
			  size_t size);

/* Waits until the server has what was said, for a second at most. */
void publisher_flush(struct publisher *publisher);

/* Bytes of messages that were sent, headers not counted. */
uint64_t publisher_bytes(const struct publisher *publisher);

#endif
