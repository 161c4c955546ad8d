/* SPDX-License-Identifier: Apache-2.0 */
/* What an errand took of processors' time, which is to be charged to whom it was for: the beginning of its answer. */
#ifndef CORDON_DAEMON_ERRAND_TIME_H
#define CORDON_DAEMON_ERRAND_TIME_H

#include <stdint.h>
#include <stdio.h>

#include "base/parcel.h"

/* In the process, before anything else. */
void errand_put_time(FILE *to);

/* In the loop: nanoseconds; 0: it died before it said so. */
uint64_t errand_take_time(struct parcel *from);

#endif
