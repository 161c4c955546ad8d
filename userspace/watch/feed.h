/* SPDX-License-Identifier: Apache-2.0 */
/* Where the series come from: the daemon's status socket. */
#ifndef CORDON_WATCH_FEED_H
#define CORDON_WATCH_FEED_H

#include <stdint.h>

#include "audit/text/buffer.h"
#include "base/failure.h"

struct feed {
	const char *socket;	/* path of the daemon's status socket */
	struct buffer text;	/* the exposition, as of `asked` */
	uint64_t asked;		/* monotonic clock, ns; 0: not yet */
	struct failure trouble; /* why the daemon did not answer the last time; "" where it did */
};

/*
 * Brings `text` up to date. However often it is called, the daemon is asked once a second at most.
 * A daemon that does not answer is a series, not a failure: -ENOMEM.
 */
int feed_read(struct feed *feed);

void feed_release(struct feed *feed);

#endif
