// SPDX-License-Identifier: Apache-2.0
/* How long a server asks to be left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/retry_after.h"

static void patience(void **state)
{
	/* 1994-11-06T08:49:37Z */
	const uint64_t now = 784111777;

	(void)state;
	assert_int_equal(retry_after_seconds("0", now), 0);
	assert_int_equal(retry_after_seconds("7", now), 7);
	assert_int_equal(retry_after_seconds("7\r\n", now), 7);
	assert_int_equal(retry_after_seconds("86400", now), 300);
	assert_int_equal(retry_after_seconds("99999999999999999999999", now), 0);
	assert_int_equal(retry_after_seconds("7 days", now), 7);
	assert_int_equal(retry_after_seconds("7x", now), 0);
	assert_int_equal(retry_after_seconds("-7", now), 0);
	assert_int_equal(retry_after_seconds("", now), 0);
	assert_int_equal(retry_after_seconds("Sun, 06 Nov 1994 08:49:37 GMT", now - 9), 9);
	assert_int_equal(retry_after_seconds("Sun, 06 Nov 1994 08:49:37 GMT", now + 9), 0);
	assert_int_equal(retry_after_seconds("tomorrow", now), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
