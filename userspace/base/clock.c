/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

void clock_format(uint64_t realtime_nsec, char text[CLOCK_TEXT_SIZE])
{
	time_t seconds = (time_t)(realtime_nsec / NSEC_PER_SEC);
	struct tm parts;
	size_t n;

	gmtime_r(&seconds, &parts);
	n = strftime(text, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
	if (n == 0)
		text[0] = '\0';
	else
		snprintf(text + n, CLOCK_TEXT_SIZE - n, ".%09uZ",
			 (unsigned int)(realtime_nsec % NSEC_PER_SEC));
}
