/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict logic that the kernel programs run, against its definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/pure/verdict.h"

#define READ  CORDON_RIGHT(CORDON_READ)
#define WRITE CORDON_RIGHT(CORDON_WRITE)
#define RUN   CORDON_RIGHT(CORDON_RUN)

static void test_nothing_is_granted_by_default(void **state)
{
	const struct verdict none = {};

	(void)state;
	assert_int_equal(verdict_missing(&none, READ | WRITE), READ | WRITE);
	assert_int_equal(verdict_missing(&none, 0), 0);
}

static void test_deny_beats_allow_in_any_order(void **state)
{
	const struct cordon_verdict allow = {.allow = READ | WRITE};
	const struct cordon_verdict deny = {.deny = WRITE};
	struct verdict first = {}, second = {};

	(void)state;
	verdict_add(&first, &allow);
	verdict_add(&first, &deny);
	verdict_add(&second, &deny);
	verdict_add(&second, &allow);
	assert_int_equal(verdict_missing(&first, READ | WRITE), WRITE);
	assert_int_equal(verdict_missing(&second, READ | WRITE), WRITE);
}

static void test_runs_add_up(void **state)
{
	const struct cordon_verdict one = {.allow = READ}, other = {.allow = WRITE};
	struct verdict v = {};

	(void)state;
	verdict_add(&v, &one);
	verdict_add(&v, &other);
	assert_int_equal(verdict_missing(&v, READ | WRITE), 0);
	assert_int_equal(verdict_missing(&v, RUN), RUN);
}

/* Every combination of two rights at both names, against "the new name grants no more". */
static void test_name_widens_exhaustively(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits < 256; bits++) {
		const struct verdict from = {.allow = bits & 3, .deny = bits >> 2 & 3};
		const struct verdict to = {.allow = bits >> 4 & 3, .deny = bits >> 6 & 3};
		uint32_t before = from.allow & ~from.deny, after = to.allow & ~to.deny;

		assert_int_equal(verdict_name_widens(&from, &to), (after & ~before) != 0);
	}
}

static void test_a_right_without_a_name_does_not_widen(void **state)
{
	const struct verdict from = {};
	const struct verdict to = {.allow = CORDON_RIGHT(CORDON_NET_CONNECT)};

	(void)state;
	assert_false(verdict_name_widens(&from, &to));
}

/* A move is refused unless all that may be granted there was certainly granted here. */
static void test_tree_widens_exhaustively(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits < 8; bits++) {
		const struct verdict from = {.may_allow = READ,
					     .must_allow = bits & 1 ? READ : 0,
					     .may_deny = bits & 2 ? READ : 0};
		const struct verdict to = {.may_allow = bits & 4 ? READ : 0};
		int certain = (bits & 1) && !(bits & 2);

		assert_int_equal(verdict_tree_widens(&from, &to), (bits & 4) && !certain);
	}
}

/* A tree may go where all that it could hold may be created and written, and nothing is denied. */
static void test_tree_makes_exhaustively(void **state)
{
	const uint32_t create = CORDON_RIGHT(CORDON_CREATE);

	(void)state;
	for (uint32_t bits = 0; bits < 16; bits++) {
		const struct verdict to = {
			.may_allow = READ | WRITE | create,
			.must_allow = (bits & 1 ? create : 0) | (bits & 2 ? WRITE : 0),
			.may_deny = (bits & 4 ? create : 0) | (bits & 8 ? WRITE : 0) | READ};
		uint32_t missing = ((bits & 5) == 1 ? 0 : create) | ((bits & 10) == 2 ? 0 : WRITE);

		assert_int_equal(verdict_tree_makes(&to), missing);
	}
}

static void test_finals_add_up(void **state)
{
	const struct cordon_final one = {.may_allow = READ, .must_allow = READ};
	const struct cordon_final other = {.may_allow = WRITE, .may_deny = READ};
	struct verdict v = {};

	(void)state;
	verdict_add_final(&v, &one);
	verdict_add_final(&v, &other);
	assert_int_equal(v.may_allow, READ | WRITE);
	assert_int_equal(v.must_allow, READ);
	assert_int_equal(v.may_deny, READ);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_granted_by_default),
		cmocka_unit_test(test_deny_beats_allow_in_any_order),
		cmocka_unit_test(test_runs_add_up),
		cmocka_unit_test(test_name_widens_exhaustively),
		cmocka_unit_test(test_a_right_without_a_name_does_not_widen),
		cmocka_unit_test(test_tree_widens_exhaustively),
		cmocka_unit_test(test_tree_makes_exhaustively),
		cmocka_unit_test(test_finals_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
