/* SPDX-License-Identifier: Apache-2.0 */
/* What an errand took of a processor, first of what it answers: it is charged to whoever it was for. */
#ifndef CORDON_DAEMON_ERRAND_TIME_H
#define CORDON_DAEMON_ERRAND_TIME_H

#include <stdint.h>
#include <stdio.h>

#include "base/parcel.h"

/* In the process. */
void errand_put_time(FILE *to);

/* In the loop: nanoseconds; 0: none was written. */
uint64_t errand_take_time(struct parcel *from);

#endif
