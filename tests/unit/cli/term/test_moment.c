/* SPDX-License-Identifier: Apache-2.0 */
/* Moments as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "cli/term/moment.h"

/* 2026-11-29 12:00:00 UTC */
#define NOW (1795953600ull * NSEC_PER_SEC)

static void is(const char *text, const char *expected)
{
	char moment[CLOCK_TEXT_SIZE];

	assert_int_equal(moment_parse(text, NOW, moment), 0);
	assert_memory_equal(moment, expected, strlen(expected));
}

static void is_none(const char *text)
{
	char moment[CLOCK_TEXT_SIZE];

	assert_int_equal(moment_parse(text, NOW, moment), -EINVAL);
}

static void dates(void **state)
{
	(void)state;
	is("2026-11-22", "2026-11-22T00:00:00");
	is("2026-11-22 03:11", "2026-11-22T03:11:00");
	is("2026-11-22T03:11:00+01:00", "2026-11-22T02:11:00");
	is("2028-02-29", "2028-02-29T00:00:00");
	is("2000-02-29T01:02:03Z", "2000-02-29T01:02:03");
	is("yesterday", "2026-11-28T00:00:00");
	is("2h", "2026-11-29T10:00:00");
}

/* What the conversion to seconds would take for a day of the next month. */
static void no_dates(void **state)
{
	static const char *const texts[] = {"2026-02-30",	   "2026-02-29",
					    "2026-04-31 10:00",	   "2100-02-29T00:00:00Z",
					    "2026-11-31T00:00:00", "2026-02-30T00:00:00+01:00",
					    "2026-13-01",	   "yesterdy"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		is_none(texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(dates), cmocka_unit_test(no_dates)};

	moment_utc();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
