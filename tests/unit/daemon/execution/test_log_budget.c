// SPDX-License-Identifier: Apache-2.0
/* How many bytes of records one execution gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "daemon/execution/log_budget.h"

#define RATE  1000000u
#define START (5000 * NSEC_PER_SEC)

static void test_rates(void **state)
{
	struct cordon_policy_header header = {};

	(void)state;
	assert_int_equal(log_budget_rate(&header), LOG_RATE_DEFAULT);
	header.flags = CORDON_POLICY_OBSERVE;
	assert_int_equal(log_budget_rate(&header), LOG_RATE_OBSERVED);
	header.log_rate = 64;
	assert_int_equal(log_budget_rate(&header), 65536);
	header.log_rate = CORDON_LOG_RATE_NONE;
	assert_int_equal(log_budget_rate(&header), UINT64_MAX);
}

/* Records of `size` bytes, so many a second for so many seconds: what is written. */
static uint64_t written(struct log_budget *budget, uint64_t from, unsigned int seconds,
			unsigned int each_second, size_t size)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < (uint64_t)seconds * each_second; i++) {
		if (!log_budget_has_room(budget, RATE, from + i * (NSEC_PER_SEC / each_second)))
			continue;
		log_budget_charge(budget, size);
		sum += size;
	}
	return sum;
}

static void test_burst_and_rate(void **state)
{
	struct log_budget budget = {};
	uint64_t sum;

	(void)state;
	/* Ten times the rate for a minute. */
	sum = written(&budget, START, 60, 2000, 5000);
	assert_in_range(sum, 66 * RATE, 69 * RATE);
	/* Behind a pause there is a whole burst again. */
	sum = written(&budget, START + 100 * NSEC_PER_SEC, 1, 2000, 5000);
	assert_in_range(sum, 8 * RATE, 10 * RATE);
}

/* What stays below it loses nothing. */
static void test_below(void **state)
{
	struct log_budget budget = {};

	(void)state;
	assert_int_equal(written(&budget, START, 600, 1500, 600), 600ull * 1500 * 600);
}

/* What is lost is few holes. */
static void test_few_gaps(void **state)
{
	struct log_budget budget = {};
	unsigned int gaps = 0;
	bool had_room = true;

	(void)state;
	for (uint64_t i = 0; i < 60 * 2000; i++) {
		bool room = log_budget_has_room(&budget, RATE, START + i * (NSEC_PER_SEC / 2000));

		gaps += had_room && !room;
		had_room = room;
		if (room)
			log_budget_charge(&budget, 5000);
	}
	assert_in_range(gaps, 1, 60 * 5);
}

/* From two rings, events of an earlier time come later. */
static void test_out_of_order(void **state)
{
	struct log_budget budget = {};

	(void)state;
	assert_true(log_budget_has_room(&budget, RATE, START));
	log_budget_charge(&budget, 9 * RATE);
	assert_false(log_budget_has_room(&budget, RATE, START - NSEC_PER_SEC));
	assert_false(log_budget_has_room(&budget, RATE, START + NSEC_PER_SEC / 2));
	assert_true(log_budget_has_room(&budget, RATE, START + 2 * NSEC_PER_SEC));
}

static void test_without_limit(void **state)
{
	struct log_budget budget = {};

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		assert_true(log_budget_has_room(&budget, UINT64_MAX, START));
		log_budget_charge(&budget, 1u << 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),	     cmocka_unit_test(test_burst_and_rate),
		cmocka_unit_test(test_below),	     cmocka_unit_test(test_few_gaps),
		cmocka_unit_test(test_out_of_order), cmocka_unit_test(test_without_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
