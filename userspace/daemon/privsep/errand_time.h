/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the processor time of a worker in front of its reply, so that the loop can charge that time
 * to the user of the request.
 */
#ifndef CORDON_DAEMON_ERRAND_TIME_H
#define CORDON_DAEMON_ERRAND_TIME_H

#include <stdint.h>
#include <stdio.h>

#include "base/failure.h"
#include "base/parcel.h"

typedef int errand_write(const void *context, FILE *to, struct failure *failure);

/*
 * In the worker: writes the processor time used until `write` returned, then the output of `write`,
 * also if `write` failed. Returns the result of `write`, or -ENOMEM.
 */
int errand_write_timed(FILE *to, errand_write *write, const void *context, struct failure *failure);

/* In the loop: returns nanoseconds, or 0 if the reply contains no time. */
uint64_t errand_take_time(struct parcel *from);

#endif
