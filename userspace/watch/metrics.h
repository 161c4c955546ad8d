/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon's `status` says, as series. Values of labels are the daemon's own words (causes
 * of ends, names of counters, features of the kernel): nothing that code inside an execution, or
 * whoever starts one, can choose.
 */
#ifndef CORDON_WATCH_METRICS_H
#define CORDON_WATCH_METRICS_H

#include <jansson.h>
#include <stdint.h>

#include "watch/exposition.h"

struct metrics_source {
	const json_t *status; /* NULL: the daemon did not answer */
	uint64_t took_nsec;   /* until it did, or until that was given up */
};

/* All of it. What a daemon of another version does not tell is left out. -ENOMEM. */
int metrics_write(struct exposition *x, const struct metrics_source *source);

#endif
