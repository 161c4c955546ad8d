/* SPDX-License-Identifier: Apache-2.0 */
/* What a JSON text holds is counted without parsing it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_bounds.h"

static bool hold(const char *text, size_t containers, size_t values)
{
	return json_bounds_hold(text, strlen(text), containers, values);
}

static void counts(void **state)
{
	(void)state;
	assert_true(hold("", 0, 0));
	assert_true(hold("{\"a\":[1,2]}", 2, 2));
	assert_false(hold("{\"a\":[1,2]}", 1, 2));
	assert_false(hold("{\"a\":[1,2]}", 2, 1));
	assert_false(hold("[[[", 2, 9));
	/* What is in strings does not count, and what is behind them does. */
	assert_true(hold("{\"[[[,,,:\":\"{,\"}", 1, 1));
	assert_true(hold("{\"a\\\"[[\":1}", 1, 1));
	assert_false(hold("{\"a\\\\\":[[1]]}", 2, 1));
	assert_true(hold("{\"a\\", 1, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
