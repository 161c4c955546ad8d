/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <errno.h>
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

/* `count` digits; -1: they are none. */
static int64_t digits(const char *text, int count)
{
	int64_t value = 0;

	for (int i = 0; i < count; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		value = value * 10 + (text[i] - '0');
	}
	return value;
}

int clock_parse(const char *text, uint64_t *ret_realtime_nsec)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.dddddddddZ";
	struct tm parts = {};
	time_t seconds;

	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return -EINVAL;
	parts.tm_year = (int)digits(text, 4) - 1900;
	parts.tm_mon = (int)digits(text + 5, 2) - 1;
	parts.tm_mday = (int)digits(text + 8, 2);
	parts.tm_hour = (int)digits(text + 11, 2);
	parts.tm_min = (int)digits(text + 14, 2);
	parts.tm_sec = (int)digits(text + 17, 2);
	seconds = timegm(&parts);
	if (seconds < 0)
		return -EINVAL;
	*ret_realtime_nsec = (uint64_t)seconds * NSEC_PER_SEC + (uint64_t)digits(text + 20, 9);
	return 0;
}
