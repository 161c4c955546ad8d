/* SPDX-License-Identifier: Apache-2.0 */
/* The source of metrics: the daemon's status socket. */
#ifndef CORDON_WATCH_FEED_H
#define CORDON_WATCH_FEED_H

#include <stdint.h>

#include "audit/text/buffer.h"
#include "base/failure.h"

struct feed {
	const char *socket;	/* path of the daemon's status socket */
	struct buffer text;	/* the metrics at the time `asked` */
	uint64_t asked;		/* monotonic clock, ns; 0: not yet */
	struct failure trouble; /* why the last request failed; "" if it succeeded */
};

/*
 * Updates `text`, with at most one request to the daemon per second. A daemon that does not respond
 * is reported as a metric, not as an error. Returns 0 or -ENOMEM.
 */
int feed_read(struct feed *feed);

void feed_release(struct feed *feed);

#endif
