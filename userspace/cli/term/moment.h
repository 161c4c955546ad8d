/* SPDX-License-Identifier: Apache-2.0 */
/* Moments as people write them on a command line. */
#ifndef CORDON_CLI_MOMENT_H
#define CORDON_CLI_MOMENT_H

#include <stdint.h>

#include "base/clock.h"

/*
 * "2026-11-22T03:11:00Z", "2026-11-22T03:11:00+01:00" (RFC 3339, a fraction may follow the
 * seconds); "2026-11-22", "2026-11-22 03:11[:00]", "03:11[:00]" (today): local time; "90s", "30m",
 * "2h", "7d": so long before `now`; "now", "today", "yesterday". Writes it as records do. -EINVAL:
 * none of these.
 */
int moment_parse(const char *text, uint64_t now, char ret_moment[CLOCK_TEXT_SIZE]);

/* From here on times are shown and read as UTC. */
void moment_utc(void);

#endif
