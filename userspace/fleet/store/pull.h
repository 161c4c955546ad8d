/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A durable pull consumer of JetStream, asked for groups of messages. What libnats 3.4 has for
 * that, natsSubscription_Fetch(), writes behind its list where messages of an earlier question come
 * late.
 */
#ifndef CORDON_FLEET_PULL_H
#define CORDON_FLEET_PULL_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stdint.h>

#define PULL_NAME_SIZE 160

/* Where answers to the store come: no other user of the server may subscribe there. */
#define PULL_INBOX "_INBOX.store"

struct pull {
	natsConnection *connection; /* borrowed */
	natsSubscription *inbox;    /* where messages come, of whichever question */
	char subject[2 * PULL_NAME_SIZE + 64];
	char reply[PULL_NAME_SIZE];
};

struct pull_options {
	const char *stream, *consumer;
	const char *filter;  /* NULL: all of the stream's */
	int64_t ack_wait;    /* ns until what was not acknowledged comes again; 0: the server's */
	int64_t pending_max; /* so many are under way at most; 0: the server's */
};

/* The consumer is made if it is not there. */
natsStatus pull_open(natsConnection *connection, jsCtx *context, const struct pull_options *options,
		     struct pull *ret_pull);
void pull_close(struct pull *pull);

/*
 * What there is, `most` messages at most; where there is nothing, waits up to `wait_ms` for the
 * first, 0: not at all. NATS_OK also with none.
 */
natsStatus pull_fetch(struct pull *pull, int most, int64_t wait_ms, natsMsg **messages,
		      int *ret_count);

/* One that is lost comes again. */
void pull_acknowledge(const struct pull *pull, natsMsg *message);

/* What the server says of a message by where its acknowledgement goes. */
struct pull_place {
	uint64_t number;    /* in the stream */
	uint64_t delivered; /* how often it was, this time included */
	uint64_t time;	    /* when the server had it, ns since the epoch */
	uint64_t pending;   /* messages of this consumer behind it */
};

/* False: it is no such subject. */
bool pull_place(const char *reply, struct pull_place *ret_place);

#endif
