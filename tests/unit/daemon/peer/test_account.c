/* SPDX-License-Identifier: Apache-2.0 */
/* What a user takes of the daemon: never more than a share, and nothing of what others have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/peer/account.h"

#define SECOND 1000000000ull

static struct accounts accounts;

static void test_connections_are_bounded(void **state)
{
	struct account *account = NULL;

	(void)state;
	accounts = (struct accounts){};
	for (int i = 0; i < ACCOUNT_MAX_CONNECTIONS; i++) {
		account = account_open(&accounts, 1000, SECOND);
		assert_non_null(account);
	}
	assert_null(account_open(&accounts, 1000, SECOND));
	assert_non_null(account_open(&accounts, 1001, SECOND));
	account_close(account);
	assert_ptr_equal(account_open(&accounts, 1000, SECOND), account);
}

/*
 * Whose descriptors are kept open is remembered, however long ago that was, and let in no more from
 * some number on.
 */
static void test_kept_descriptors(void **state)
{
	struct account *account;

	(void)state;
	accounts = (struct accounts){};
	account = account_open(&accounts, 1000, SECOND);
	assert_non_null(account);
	account->kept = ACCOUNT_MAX_KEPT - 1;
	assert_ptr_equal(account_open(&accounts, 1000, SECOND), account);
	account->kept++;
	assert_null(account_open(&accounts, 1000, SECOND));
	account_close(account);
	account_close(account);
	for (uid_t uid = 2000; uid < 2000 + ACCOUNTS_MAX - 1; uid++)
		assert_non_null(account_open(&accounts, uid, 1000 * SECOND));
	assert_null(account_open(&accounts, 3000, 1000 * SECOND));
	assert_null(account_open(&accounts, 1000, 1000 * SECOND));
}

static void test_share_of_time(void **state)
{
	struct account *greedy, *modest;
	uint64_t now = SECOND, used = 0;

	(void)state;
	accounts = (struct accounts){};
	greedy = account_open(&accounts, 1000, now);
	modest = account_open(&accounts, 1001, now);
	/* One millisecond after the other for 100 s, as soon as it may. */
	while (now < 101 * SECOND) {
		uint64_t wait = account_wait(greedy, now);

		now += wait;
		if (wait > 0)
			assert_int_equal(account_wait(greedy, now), 0);
		now += 1000000;
		used += 1000000;
		account_charge(greedy, 1000000, now);
	}
	assert_in_range(used, 50 * SECOND - SECOND, 50 * SECOND + SECOND);
	assert_int_equal(account_wait(modest, now), 0);
}

static void test_nothing_is_gained_by_coming_back(void **state)
{
	struct account *account;
	uint64_t now = SECOND;

	(void)state;
	accounts = (struct accounts){};
	account = account_open(&accounts, 1000, now);
	account_charge(account, 10 * (int64_t)SECOND, now);
	account_close(account);
	account = account_open(&accounts, 1000, now);
	assert_in_range(account_wait(account, now), 18 * SECOND, 20 * SECOND);
	/* Others neither wait nor push it out. */
	for (uid_t uid = 2000; uid < 2000 + 2 * ACCOUNTS_MAX; uid++) {
		struct account *other = account_open(&accounts, uid, now);

		assert_non_null(other);
		assert_int_equal(account_wait(other, now), 0);
		account_close(other);
	}
	assert_in_range(account_wait(account, now), 18 * SECOND, 20 * SECOND);
}

static void test_users_are_bounded(void **state)
{
	(void)state;
	accounts = (struct accounts){};
	for (uid_t uid = 1; uid <= ACCOUNTS_MAX; uid++)
		assert_non_null(account_open(&accounts, uid, SECOND));
	assert_null(account_open(&accounts, 5000, SECOND));
	assert_non_null(account_open(&accounts, 1, SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connections_are_bounded),
		cmocka_unit_test(test_kept_descriptors),
		cmocka_unit_test(test_share_of_time),
		cmocka_unit_test(test_nothing_is_gained_by_coming_back),
		cmocka_unit_test(test_users_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
