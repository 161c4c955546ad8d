/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A durable JetStream pull consumer that fetches groups of messages. It replaces
 * natsSubscription_Fetch() of libnats 3.4, which writes beyond its list if messages of an earlier
 * request arrive late.
 */
#ifndef CORDON_FLEET_PULL_H
#define CORDON_FLEET_PULL_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stdint.h>

#define PULL_NAME_SIZE 160

/* Prefix of the store's reply subjects. No other user of the server may subscribe to it. */
#define PULL_INBOX "_INBOX.store"

struct pull {
	natsConnection *connection; /* not owned */
	natsSubscription *inbox;    /* receives the messages of all requests */
	char subject[2 * PULL_NAME_SIZE + 64];
	char reply[PULL_NAME_SIZE];
};

struct pull_options {
	const char *stream, *consumer;
	const char *filter;  /* NULL: all subjects of the stream */
	int64_t ack_wait;    /* ns until an unacknowledged message is resent; 0: server's default */
	int64_t pending_max; /* maximum of unacknowledged messages; 0: server's default */
};

/* Opens the consumer, and creates it if it does not exist. */
natsStatus pull_open(natsConnection *connection, jsCtx *context, const struct pull_options *options,
		     struct pull *ret_pull);
void pull_close(struct pull *pull);

/*
 * Fetches up to `most` messages. If there are none, waits up to `wait_ms` for the first; 0: does
 * not wait. Returns NATS_OK even without messages.
 */
natsStatus pull_fetch(struct pull *pull, int most, int64_t wait_ms, natsMsg **messages,
		      int *ret_count);

/* Acknowledges a message. A lost acknowledgement causes a repeated delivery. */
void pull_acknowledge(const struct pull *pull, natsMsg *message);

/* The server's data about a message, from its acknowledgement subject. */
struct pull_place {
	uint64_t number;    /* in the stream */
	uint64_t delivered; /* number of deliveries, including this one */
	uint64_t time;	    /* when the server received it, ns since the epoch */
	uint64_t pending;   /* later messages of this consumer */
};

/* Returns false if the subject has another form. */
bool pull_place(const char *reply, struct pull_place *ret_place);

#endif
