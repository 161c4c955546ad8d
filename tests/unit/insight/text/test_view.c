// SPDX-License-Identifier: Apache-2.0
/* Times of records, by the wall clock and by the boot clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "insight/text/view.h"

#define HOUR (3600 * NSEC_PER_SEC)

static void test_times(void **state)
{
	json_t *plain = json_pack("{s:s, s:{s:i}}", "@timestamp", "2025-11-21T10:00:05.000000000Z",
				  "cordon", "schema", 1);
	json_t *ahead = json_pack("{s:s, s:{s:I}}", "@timestamp", "2025-11-21T12:00:05.000000000Z",
				  "cordon", "clock_step_ns", (json_int_t)(2 * HOUR));
	json_t *behind = json_pack("{s:s, s:{s:I}}", "@timestamp", "2025-11-21T08:00:05.000000000Z",
				   "cordon", "clock_step_ns", -(json_int_t)(2 * HOUR));

	(void)state;
	assert_true(view_time(plain) > 0);
	assert_true(view_steady_time(plain) == view_time(plain));
	assert_true(view_time(ahead) == view_time(plain) + 2 * HOUR);
	assert_true(view_steady_time(ahead) == view_time(plain));
	assert_true(view_steady_time(behind) == view_time(plain));
	json_decref(plain);
	json_decref(ahead);
	json_decref(behind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
