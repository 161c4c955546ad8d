/* SPDX-License-Identifier: Apache-2.0 */
/* Reads moments as people write them on a command line. */
#include "cli/term/moment.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int finish(time_t seconds, uint64_t nsec, char moment[CLOCK_TEXT_SIZE])
{
	if (seconds < 0 || seconds > 253402300799) /* the year 9999 */
		return -EINVAL;
	clock_format((uint64_t)seconds * NSEC_PER_SEC + nsec, moment);
	return 0;
}

/* The conversion to seconds takes 30 February for 2 March. */
static bool is_date(const struct tm *tm)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = tm->tm_year + 1900;
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return tm->tm_mday <= days[tm->tm_mon] + (leap && tm->tm_mon == 1);
}

static int local_time(struct tm *tm, char moment[CLOCK_TEXT_SIZE])
{
	tm->tm_isdst = -1;
	return finish(mktime(tm), 0, moment);
}

/* "90s" before now. */
static int parse_ago(const char *text, uint64_t now, char moment[CLOCK_TEXT_SIZE])
{
	uint64_t seconds = now / NSEC_PER_SEC, unit;
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || !*end || end[1])
		return -EINVAL;
	switch (*end) {
	case 's':
		unit = 1;
		break;
	case 'm':
		unit = 60;
		break;
	case 'h':
		unit = 3600;
		break;
	case 'd':
		unit = 86400;
		break;
	default:
		return -EINVAL;
	}
	if (value > seconds / unit)
		return -EINVAL;
	return finish((time_t)(seconds - value * unit), now % NSEC_PER_SEC, moment);
}

/* Behind the seconds: a fraction and "Z" or "+01:00". */
static int parse_rest(const char *rest, struct tm *tm, char moment[CLOCK_TEXT_SIZE])
{
	uint64_t nsec = 0, unit = NSEC_PER_SEC / 10;
	int hours, minutes, length = 0;
	long offset = 0;

	if (*rest == '.') {
		for (rest++; isdigit((unsigned char)*rest); rest++, unit /= 10)
			nsec += (uint64_t)(*rest - '0') * unit;
	}
	if ((*rest == 'Z' || *rest == 'z') && !rest[1])
		return finish(timegm(tm), nsec, moment);
	if ((*rest != '+' && *rest != '-') || strlen(rest) != strlen("+01:00") ||
	    !isdigit((unsigned char)rest[1]) ||
	    sscanf(rest + 1, "%2d:%2d%n", &hours, &minutes, &length) != 2 || length != 5)
		return -EINVAL;
	offset = (hours * 60L + minutes) * 60L;
	return finish(timegm(tm) - (*rest == '-' ? -offset : offset), nsec, moment);
}

static int parse_date(const char *text, char moment[CLOCK_TEXT_SIZE])
{
	static const char *const formats[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
					      "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};
	struct tm tm;
	const char *rest;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		tm = (struct tm){0};
		rest = strptime(text, formats[i], &tm);
		if (rest && !*rest)
			return is_date(&tm) ? local_time(&tm, moment) : -EINVAL;
	}
	tm = (struct tm){0};
	rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	return rest && is_date(&tm) ? parse_rest(rest, &tm, moment) : -EINVAL;
}

/* A time of this day. */
static int parse_clock(const char *text, uint64_t now, char moment[CLOCK_TEXT_SIZE])
{
	time_t seconds = (time_t)(now / NSEC_PER_SEC);
	const char *rest;
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		return -EINVAL;
	tm.tm_sec = 0;
	rest = strptime(text, "%H:%M:%S", &tm);
	if (!rest || *rest) {
		tm.tm_sec = 0;
		rest = strptime(text, "%H:%M", &tm);
	}
	return rest && !*rest ? local_time(&tm, moment) : -EINVAL;
}

static int parse_word(const char *text, uint64_t now, char moment[CLOCK_TEXT_SIZE])
{
	time_t seconds = (time_t)(now / NSEC_PER_SEC);
	bool yesterday = strcmp(text, "yesterday") == 0;
	struct tm tm;

	if (strcmp(text, "now") == 0)
		return finish(seconds, now % NSEC_PER_SEC, moment);
	if ((!yesterday && strcmp(text, "today") != 0) || !localtime_r(&seconds, &tm))
		return -EINVAL;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday -= yesterday;
	return local_time(&tm, moment);
}

int moment_parse(const char *text, uint64_t now, char ret_moment[CLOCK_TEXT_SIZE])
{
	int r = parse_word(text, now, ret_moment);

	if (r < 0)
		r = parse_ago(text, now, ret_moment);
	if (r < 0)
		r = parse_clock(text, now, ret_moment);
	return r < 0 ? parse_date(text, ret_moment) : r;
}

void moment_utc(void)
{
	setenv("TZ", "UTC0", 1);
	tzset();
}
