/* SPDX-License-Identifier: Apache-2.0 */
/* Which system calls a policy has no use for. */
#include "tests/unit/policy/support.h"

#include <sys/socket.h>

#include "policy/ask/system_calls.h"

static struct policy_system_calls calls_of(const char *text)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(text);
	struct policy_system_calls calls;

	assert_int_equal(policy_system_calls(p, &calls), 0);
	return calls;
}

static void test_default(void **state)
{
	struct policy_system_calls calls = calls_of("version: 1\n");

	(void)state;
	assert_false(calls.all);
	assert_true(calls.guarded);
	assert_false(calls.mounts);
	assert_false(calls.tracing);
	assert_false(calls.io_uring);
	assert_false(calls.executable_memory);
}

static void test_words(void **state)
{
	struct policy_system_calls calls;

	(void)state;
	assert_true(calls_of("version: 1\nprocess: {system_calls: all}\n").all);
	assert_false(calls_of("version: 1\nprocess: {system_calls: strict}\n").guarded);
	assert_true(calls_of("version: 1\nprocess: {system_calls: restricted}\n").guarded);
	calls = calls_of("version: 1\nprocess: {namespaces: allow, trace: own, io_uring: allow}\n");
	assert_true(calls.mounts);
	assert_true(calls.tracing);
	assert_true(calls.io_uring);
	calls = calls_of("version: 1\nexec: [{allow: [map], paths: ['@anonymous']}]\n");
	assert_true(calls.executable_memory);
}

/* To observe is to refuse nothing. */
static void test_observe(void **state)
{
	(void)state;
	assert_true(calls_of("version: 1\nmode: observe\n").all);
	assert_true(calls_of("version: 1\nmode: observe\nprocess: {system_calls: strict}\n").all);
}

static void test_families(void **state)
{
	struct policy_system_calls calls = calls_of("version: 1\n");

	(void)state;
	/* What rules have words for is left to the hook, allowed or not. */
	assert_true(calls.families >> AF_UNIX & 1);
	assert_true(calls.families >> AF_INET & 1);
	assert_true(calls.families >> AF_VSOCK & 1);
	assert_false(calls.families >> AF_AX25 & 1);
	assert_false(calls.families >> AF_RDS & 1);
	calls = calls_of("version: 1\nnetwork: [{allow: [socket], families: [21]}]\n");
	assert_true(calls.families >> AF_RDS & 1);
	assert_false(calls.families >> AF_AX25 & 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_observe),
		cmocka_unit_test(test_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
