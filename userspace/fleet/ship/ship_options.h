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
	uint64_t records_second; /* of the bulk lane, at most; 0: as many as there are */
	bool otlp;		 /* to an OpenTelemetry collector, not to NATS */
	unsigned int presence;	 /* seconds between two words of its own; 0: none */
	bool once;		 /* leave when all that is there now is shipped */
	bool plaintext;		 /* in clear to another machine, too */
	uint16_t port;		 /* of the server */
	struct publisher_options publisher;
};

/* -1: go on; else the exit status: what there was to say was said. */
int ship_options_parse(int argc, char **argv, struct ship_options *ret_options);

/*
 * nats://[USER:PASSWORD@]HOST[:PORT], also tls://; http:// or https:// and a path. -EINVAL: it is
 * none.
 */
int ship_options_port(const char *url, bool otlp, uint16_t *ret_port);

#endif
