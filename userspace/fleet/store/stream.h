/* SPDX-License-Identifier: Apache-2.0 */
/* Receives records from a durable NATS JetStream pull consumer. */
#ifndef CORDON_FLEET_STREAM_H
#define CORDON_FLEET_STREAM_H

#include <signal.h>
#include <stdint.h>

#include "fleet/store/intake.h"

struct stream_options {
	const char *url;		    /* nats://127.0.0.1:4222 */
	const char *stream;		    /* CORDON */
	const char *consumer;		    /* its durable name */
	const char *credentials;	    /* a NATS credentials file; NULL: none */
	const char *ca, *certificate, *key; /* PEM files for TLS; NULL: none */
	uint64_t ack_wait;		    /* ns until unacknowledged messages are resent */
	/* ends when idle for this long, ns; 0: never */
	uint64_t idle_end;
};

/*
 * Receives messages until *stop. Reconnects to an unreachable server, and creates the stream if it
 * does not exist. Returns 0 if stopped, -EACCES if the server rejects the client, -EPROTO if it is
 * not a usable server, or another -ERRNO if the store fails.
 */
int stream_run(struct intake *intake, const struct stream_options *options,
	       const volatile sig_atomic_t *stop, void (*report)(const char *text),
	       struct failure *failure);

#endif
