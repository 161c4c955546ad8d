/* SPDX-License-Identifier: Apache-2.0 */
/* The stream that brings records: a durable pull consumer of NATS JetStream. */
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
	uint64_t ack_wait;		    /* ns until what was not acknowledged comes again */
	/* Ends when it has been idle for so long, ns; 0: never */
	uint64_t idle_end;
};

/*
 * Takes in what comes, until *stop. A server that is away is waited for; a stream that is not
 * there is made. 0: it was stopped. Negative errno: the store cannot go on, or the server refuses
 * (-EACCES), or is none (-EPROTO).
 */
int stream_run(struct intake *intake, const struct stream_options *options,
	       const volatile sig_atomic_t *stop, void (*report)(const char *text),
	       struct failure *failure);

#endif
