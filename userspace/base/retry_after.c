/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the HTTP header Retry-After. */
#include "base/retry_after.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Limit for the delay, because the server may be malicious. */
#define RETRY_SECONDS_MAX 300u

uint64_t retry_after_seconds(const char *value, uint64_t now_seconds)
{
	uint64_t seconds = 0;
	struct tm date = {};
	char *end;
	time_t at;

	errno = 0;
	if (value[0] >= '0' && value[0] <= '9') {
		seconds = strtoull(value, &end, 10);
		if (errno || (*end && !strchr(" \t\r\n", *end)))
			return 0;
	} else if (strptime(value, "%a, %d %b %Y %H:%M:%S GMT", &date)) {
		at = timegm(&date);
		seconds = at > 0 && (uint64_t)at > now_seconds ? (uint64_t)at - now_seconds : 0;
	}
	return seconds < RETRY_SECONDS_MAX ? seconds : RETRY_SECONDS_MAX;
}
