/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks in nanoseconds. */
#include "base/clock.h"

#include <errno.h>

static void two_digits(char *text, unsigned int value)
{
	text[0] = (char)('0' + value / 10);
	text[1] = (char)('0' + value % 10);
}

/*
 * Days since the epoch to a date of the Gregorian calendar. After Howard Hinnant,
 * "chrono-Compatible Low-Level Date Algorithms".
 */
static void write_date(uint64_t days, char *text)
{
	uint64_t shifted = days + 719468, era = shifted / 146097;
	unsigned int of_era = (unsigned int)(shifted - era * 146097);
	unsigned int year_of_era =
		(of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned int of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	unsigned int shifted_month = (5 * of_year + 2) / 153;
	unsigned int month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
	unsigned int year = (unsigned int)(era * 400) + year_of_era + (month <= 2);

	two_digits(text, year / 100);
	two_digits(text + 2, year % 100);
	text[4] = '-';
	two_digits(text + 5, month);
	text[7] = '-';
	two_digits(text + 8, of_year - (153 * shifted_month + 2) / 5 + 1);
}

void clock_format(uint64_t realtime_nsec, char text[CLOCK_TEXT_SIZE])
{
	uint64_t seconds = realtime_nsec / NSEC_PER_SEC;
	unsigned int nsec = (unsigned int)(realtime_nsec % NSEC_PER_SEC);
	unsigned int of_day = (unsigned int)(seconds % 86400);

	write_date(seconds / 86400, text);
	text[10] = 'T';
	two_digits(text + 11, of_day / 3600);
	text[13] = ':';
	two_digits(text + 14, of_day / 60 % 60);
	text[16] = ':';
	two_digits(text + 17, of_day % 60);
	text[19] = '.';
	for (int i = 8; i >= 0; i--) {
		text[20 + i] = (char)('0' + nsec % 10);
		nsec /= 10;
	}
	text[29] = 'Z';
	text[30] = '\0';
}

/* Parses `count` digits; returns -1 for other characters. */
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
