/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of policy and caller, the lower of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "launch/lower_limits.h"

static void test_nothing_asked(void **state)
{
	const struct policy_limits policy = {.wall_nsec = 5, .pids = 7}, asked = {};
	struct policy_limits result;

	(void)state;
	assert_int_equal(limits_lower(&policy, &asked, &result, NULL), 0);
	assert_memory_equal(&result, &policy, sizeof(result));
}

static void test_lower(void **state)
{
	const struct policy_limits policy = {.wall_nsec = 60 * NSEC_PER_SEC, .memory_bytes = 1000};
	const struct policy_limits asked = {
		.wall_nsec = NSEC_PER_SEC, .memory_bytes = 1000, .pids = 9};
	struct policy_limits result;

	(void)state;
	assert_int_equal(limits_lower(&policy, &asked, &result, NULL), 0);
	assert_int_equal(result.wall_nsec, NSEC_PER_SEC);
	assert_int_equal(result.memory_bytes, 1000);
	/* The policy has none: any limit is lower than that. */
	assert_int_equal(result.pids, 9);
	assert_int_equal(result.cpu_percent, 0);
}

/* Every limit, and the message speaks of it as the command line does. */
static void test_raise(void **state)
{
	static const struct {
		struct policy_limits policy, asked;
		const char *text;
	} cases[] = {
		{{.wall_nsec = 60 * NSEC_PER_SEC},
		 {.wall_nsec = 36000 * NSEC_PER_SEC},
		 "--timeout 10h is more than the policy's 1m;"},
		{{.memory_bytes = 512u << 20},
		 {.memory_bytes = 1u << 30},
		 "--memory 1G is more than the policy's 512M;"},
		{{.pids = 64}, {.pids = 65}, "--pids 65 is more than the policy's 64;"},
		{{.cpu_percent = 100},
		 {.cpu_percent = 200},
		 "--cpu 200% is more than the policy's 100%;"},
		{{.cpu_time_nsec = NSEC_PER_SEC},
		 {.cpu_time_nsec = 1500 * NSEC_PER_MSEC},
		 "--cpu-time 1s500ms is more than the policy's 1s;"},
		{{.address_space_bytes = 1000},
		 {.address_space_bytes = 1025},
		 "--address-space 1025B is more than the policy's 1000B;"},
		{{.file_size_bytes = 1024},
		 {.file_size_bytes = 4096},
		 "--file-size 4K is more than the policy's 1K;"},
		{{.open_files = 256},
		 {.open_files = UINT64_MAX},
		 "--open-files 18446744073709551615 is more than the policy's 256;"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct failure failure = {};
		struct policy_limits result;

		assert_int_equal(limits_lower(&cases[i].policy, &cases[i].asked, &result, &failure),
				 -EPERM);
		assert_memory_equal(failure.text, cases[i].text, strlen(cases[i].text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_asked),
		cmocka_unit_test(test_lower),
		cmocka_unit_test(test_raise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
