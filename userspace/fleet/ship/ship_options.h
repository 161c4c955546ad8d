/* SPDX-License-Identifier: Apache-2.0 */
/* The shipper's command line. */
#ifndef CORDON_FLEET_SHIP_OPTIONS_H
#define CORDON_FLEET_SHIP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "fleet/ship/publisher.h"

struct ship_options {
	const char *log;
	const char *state;	 /* directory */
	uint64_t records_second; /* maximum for the bulk queue; 0: unlimited */
	bool otlp;		 /* to an OpenTelemetry collector, not to NATS */
	unsigned int presence;	 /* seconds between presence messages; 0: none */
	bool once;		 /* exit when all current records are sent */
	bool plaintext;		 /* permit unencrypted records to another machine */
	uint16_t port;		 /* of the server */
	struct publisher_options publisher;
};

/*
 * Parses the options. Returns -1 to continue; otherwise the exit status, with everything printed.
 */
int ship_options_parse(int argc, char **argv, struct ship_options *ret_options);

/*
 * Returns the port of a server's URL, or the default port of its scheme:
 * nats://[USER:PASSWORD@]HOST[:PORT] or tls://, for OTLP http:// or https:// with a path. Returns
 * -EINVAL for any other URL.
 */
int ship_options_port(const char *url, bool otlp, uint16_t *ret_port);

#endif
