/* SPDX-License-Identifier: Apache-2.0 */
/* How long turns of the loop are found to take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <time.h>

#include "base/clock.h"
#include "daemon/host/turn.h"

static void take(const char *what, long msec)
{
	const struct timespec pause = {.tv_nsec = msec * (long)NSEC_PER_MSEC};
	TURN(what);

	if (msec > 0)
		(void)nanosleep(&pause, NULL);
}

static void work(const char *what, uint64_t msec)
{
	TURN(what);
	const uint64_t end = clock_nsec(CLOCK_THREAD_CPUTIME_ID) + msec * NSEC_PER_MSEC;

	while (clock_nsec(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static json_int_t turns_from(const json_t *json, size_t bucket)
{
	const json_t *histogram = json_object_get(json, "histogram");
	json_int_t turns = 0;

	for (; bucket < json_array_size(histogram); bucket++)
		turns += json_integer_value(
			json_object_get(json_array_get(histogram, bucket), "turns"));
	return turns;
}

static void test_longest_and_histogram(void **state)
{
	json_t *json = turn_json();
	const json_t *longest;

	(void)state;
	assert_true(json_is_null(json_object_get(json, "longest")));
	assert_true(json_is_null(json_object_get(json, "busiest")));
	assert_int_equal(turns_from(json, 0), 0);
	json_decref(json);
	take("short", 0);
	take("long", 60);
	take("short", 0);
	json = turn_json();
	longest = json_object_get(json, "longest");
	assert_string_equal(json_string_value(json_object_get(longest, "what")), "long");
	assert_true(json_integer_value(json_object_get(longest, "nsec")) >=
		    (json_int_t)(60 * NSEC_PER_MSEC));
	assert_int_equal(turns_from(json, 0), 3);
	assert_true(json_integer_value(json_object_get(json, "total_nsec")) >=
		    json_integer_value(json_object_get(longest, "nsec")));
	/* From 50 ms on. */
	assert_true(turns_from(json, 4) >= 1);
	json_decref(json);
}

/* Who waits is not who works. */
static void test_busiest(void **state)
{
	json_t *json;
	const json_t *busiest;

	(void)state;
	work("works", 20);
	take("waits", 100);
	json = turn_json();
	busiest = json_object_get(json, "busiest");
	assert_string_equal(json_string_value(json_object_get(busiest, "what")), "works");
	assert_true(json_integer_value(json_object_get(busiest, "nsec")) >=
		    (json_int_t)(20 * NSEC_PER_MSEC));
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longest_and_histogram),
		cmocka_unit_test(test_busiest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
