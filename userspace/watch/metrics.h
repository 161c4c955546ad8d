/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the daemon's `status` to metrics. Invariant: label values are only constants of the
 * daemon (causes, names of counters, kernel features), so that neither agent code nor its starter
 * can choose them.
 */
#ifndef CORDON_WATCH_METRICS_H
#define CORDON_WATCH_METRICS_H

#include <jansson.h>
#include <stdint.h>

#include "watch/exposition.h"

struct metrics_source {
	const json_t *status; /* NULL: the daemon did not respond */
	uint64_t took_nsec;   /* until the response or timeout */
};

/*
 * Writes all metrics. Omits members that a daemon of another version does not send. Returns 0 or
 * -ENOMEM.
 */
int metrics_write(struct exposition *x, const struct metrics_source *source);

#endif
