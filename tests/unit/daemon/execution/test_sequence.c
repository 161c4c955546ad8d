/* SPDX-License-Identifier: Apache-2.0 */
/* Events in order, out of order, late and lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <stdio.h>

#include <cmocka.h>

#include "daemon/execution/sequence.h"

static char gaps[4096];

static void note(uint64_t after, uint64_t before, void *context)
{
	size_t used = strlen(gaps);

	(void)context;
	snprintf(gaps + used, sizeof(gaps) - used, "%llu-%llu ", (unsigned long long)after,
		 (unsigned long long)before);
}

static void add_all(struct sequence *s, const uint64_t *numbers)
{
	gaps[0] = '\0';
	for (; *numbers; numbers++)
		sequence_add(s, *numbers, note, NULL);
}

static void check(const uint64_t *numbers, uint64_t last, const char *expected)
{
	struct sequence s = {};

	add_all(&s, numbers);
	sequence_finish(&s, last, note, NULL);
	assert_string_equal(gaps, expected);
}

static void test_gaps(void **state)
{
	(void)state;
	check((uint64_t[]){1, 2, 3, 0}, 3, "");
	check((uint64_t[]){3, 1, 2, 0}, 3, "");
	check((uint64_t[]){2, 4, 6, 5, 3, 1, 0}, 6, "");
	check((uint64_t[]){1, 3, 0}, 3, "1-3 ");
	check((uint64_t[]){2, 0}, 2, "0-2 ");
	check((uint64_t[]){1, 2, 0}, 9, "2-10 ");
	check((uint64_t[]){0}, 4, "0-5 ");
	check((uint64_t[]){0}, 0, "");
	check((uint64_t[]){1, 5, 9, 0}, 10, "1-5 5-9 9-11 ");
	/* The same number twice is no gap, and hides none. */
	check((uint64_t[]){1, 1, 4, 4, 0}, 4, "1-4 ");
}

/* As when a log is read that tells of events and gaps, newest first. */
static void test_ranges(void **state)
{
	struct sequence s = {};

	(void)state;
	gaps[0] = '\0';
	sequence_add_range(&s, 7, 9, note, NULL);
	sequence_add_range(&s, 2, 4, note, NULL);
	sequence_add_range(&s, 1, 1, note, NULL);
	assert_string_equal(gaps, "");
	sequence_add_range(&s, 1, 3, note, NULL);
	sequence_add(&s, 10, note, NULL);
	sequence_finish(&s, 10, note, NULL);
	assert_string_equal(gaps, "4-7 ");
	/* One that nobody can have meant takes no time. */
	sequence_add_range(&s, 11, UINT64_MAX, note, NULL);
	assert_true(s.count > 0);
}

/* Any order of 1..n gives no gap, and each missing number exactly one. */
static void test_shuffled(void **state)
{
	uint64_t numbers[SEQUENCE_MAX_RUNS + 1];
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct sequence s = {};

		for (size_t i = 0; i < SEQUENCE_MAX_RUNS; i++)
			numbers[i] = i + 1;
		numbers[SEQUENCE_MAX_RUNS] = 0;
		for (size_t i = SEQUENCE_MAX_RUNS - 1; i > 0; i--) {
			size_t j = (seed = seed * 1103515245u + 12345u) / 65536u % (i + 1);
			uint64_t swap = numbers[i];

			numbers[i] = numbers[j];
			numbers[j] = swap;
		}
		add_all(&s, numbers);
		assert_int_equal(s.count, 0);
		sequence_finish(&s, SEQUENCE_MAX_RUNS, note, NULL);
		assert_string_equal(gaps, "");
	}
}

/* More holes than are kept: the oldest are reported, none twice, none never. */
static void test_overflow(void **state)
{
	struct sequence s = {};
	unsigned int count = 0;

	(void)state;
	gaps[0] = '\0';
	for (uint64_t n = 2; n <= 4 * SEQUENCE_MAX_RUNS; n += 2)
		sequence_add(&s, n, note, NULL);
	assert_true(strncmp(gaps, "0-2 2-4 ", 8) == 0);
	/* Late: reported already. */
	sequence_add(&s, 1, note, NULL);
	sequence_finish(&s, 4 * SEQUENCE_MAX_RUNS, note, NULL);
	for (const char *at = gaps; (at = strchr(at, '-')) != NULL; at++)
		count++;
	assert_int_equal(count, 2 * SEQUENCE_MAX_RUNS);
}

static void test_anywhere(void **state)
{
	struct sequence s = {.anywhere = true};

	(void)state;
	add_all(&s, (uint64_t[]){70, 72, 0});
	sequence_finish(&s, 72, note, NULL);
	assert_string_equal(gaps, "70-72 ");
	s = (struct sequence){.anywhere = true};
	gaps[0] = '\0';
	sequence_finish(&s, 50, note, NULL);
	assert_string_equal(gaps, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gaps),	 cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_shuffled), cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
