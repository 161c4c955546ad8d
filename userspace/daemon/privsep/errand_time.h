/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an errand took of a processor, first of what it answers: it is charged to whoever it was
 * for.
 */
#ifndef CORDON_DAEMON_ERRAND_TIME_H
#define CORDON_DAEMON_ERRAND_TIME_H

#include <stdint.h>
#include <stdio.h>

#include "base/failure.h"
#include "base/parcel.h"

typedef int errand_write(const void *context, FILE *to, struct failure *failure);

/*
 * In the process: what it took up to then, and behind it what `write` has written, also before it
 * failed. What that returned, or -ENOMEM.
 */
int errand_write_timed(FILE *to, errand_write *write, const void *context, struct failure *failure);

/* In the loop: nanoseconds; 0: none was written. */
uint64_t errand_take_time(struct parcel *from);

#endif
