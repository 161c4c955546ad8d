/* SPDX-License-Identifier: Apache-2.0 */
/* A host that takes more than the others waits for its turn, and no other one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/clock.h"
#include "fleet/store/shares.h"

#define MSEC NSEC_PER_MSEC

static void one_takes_all(void **state)
{
	struct shares shares = {};
	uint64_t now = 1000 * NSEC_PER_SEC;

	(void)state;
	assert_false(shares_is_spent(&shares, "aa", SHARE_BULK, now));
	/* Also where no other one was heard of yet. */
	shares_use(&shares, "aa", SHARE_BULK, 100 * MSEC, now);
	assert_true(shares_is_spent(&shares, "aa", SHARE_BULK, now));
	assert_false(shares_is_spent(&shares, "aa", SHARE_FIRST, now));
	assert_false(shares_is_spent(&shares, "bb", SHARE_BULK, now));
	shares_use(&shares, "bb", SHARE_BULK, 5 * MSEC, now);
	assert_false(shares_is_spent(&shares, "bb", SHARE_BULK, now));
	/* Another window. */
	assert_false(shares_is_spent(&shares, "aa", SHARE_BULK, now + 2 * NSEC_PER_SEC));
	shares_free(&shares);
}

static void all_take_the_same(void **state)
{
	struct shares shares = {};
	uint64_t now = 1000 * NSEC_PER_SEC;
	char host[16];

	(void)state;
	/* As much as there is. */
	for (unsigned int i = 0; i < 100; i++) {
		(void)snprintf(host, sizeof(host), "%x", i);
		shares_use(&shares, host, SHARE_BULK, 20 * MSEC, now);
	}
	for (unsigned int i = 0; i < 100; i++) {
		(void)snprintf(host, sizeof(host), "%x", i);
		assert_false(shares_is_spent(&shares, host, SHARE_BULK, now));
	}
	shares_use(&shares, "5", SHARE_BULK, 60 * MSEC, now);
	assert_true(shares_is_spent(&shares, "5", SHARE_BULK, now));
	shares_free(&shares);
}

/* The end of a transaction is paid for by those whose messages were in it. */
static void ends_count(void **state)
{
	struct shares shares = {};
	uint64_t now = 1000 * NSEC_PER_SEC;

	(void)state;
	for (unsigned int i = 0; i < 99; i++)
		shares_use(&shares, "aa", SHARE_BULK, 1, now);
	shares_use(&shares, "bb", SHARE_BULK, 1, now);
	shares_settle(&shares, 200 * MSEC, now);
	assert_true(shares_is_spent(&shares, "aa", SHARE_BULK, now));
	assert_false(shares_is_spent(&shares, "bb", SHARE_BULK, now));
	shares_free(&shares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_takes_all),
		cmocka_unit_test(all_take_the_same),
		cmocka_unit_test(ends_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
