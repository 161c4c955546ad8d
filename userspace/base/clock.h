/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks in nanoseconds. */
#ifndef CORDON_BASE_CLOCK_H
#define CORDON_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  1000000000ull
#define NSEC_PER_MSEC 1000000ull

static inline uint64_t timespec_nsec(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NSEC_PER_SEC + (uint64_t)time->tv_nsec;
}

static inline uint64_t clock_nsec(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return timespec_nsec(&now);
}

#define CLOCK_TEXT_SIZE 32

/* "2026-01-31T12:34:56.123456789Z" (RFC 3339, UTC) from nanoseconds since the epoch. */
void clock_format(uint64_t realtime_nsec, char text[CLOCK_TEXT_SIZE]);

/* Parses the same form, and ignores text after the Z. Returns 0 or -EINVAL. */
int clock_parse(const char *text, uint64_t *ret_realtime_nsec);

#endif
