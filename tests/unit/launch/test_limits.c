/* SPDX-License-Identifier: Apache-2.0 */
/* Limits as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "launch/limits.h"

static const struct limit_kind *kind(const char *option)
{
	for (size_t i = 0; i < LIMIT_KINDS; i++)
		if (strcmp(limit_kinds[i].option, option) == 0)
			return &limit_kinds[i];
	fail_msg("no limit '%s'", option);
	return NULL;
}

static const struct {
	const char *option, *text;
	uint64_t value;
} good[] = {
	{"timeout", "60s", 60 * NSEC_PER_SEC},
	{"timeout", "500ms", 500 * NSEC_PER_MSEC},
	{"timeout", "2m", 120 * NSEC_PER_SEC},
	{"timeout", "1m30s", 90 * NSEC_PER_SEC},
	{"timeout", "1.5h", 5400 * NSEC_PER_SEC},
	{"timeout", "0.25s", 250 * NSEC_PER_MSEC},
	{"timeout", "1us", 1000},
	{"cpu-time", "3s", 3 * NSEC_PER_SEC},
	{"memory", "512M", 512ull << 20},
	{"memory", "512m", 512ull << 20},
	{"memory", "1G", 1ull << 30},
	{"memory", "1.5G", 3ull << 29},
	{"memory", "64KiB", 64 << 10},
	{"memory", "4096B", 4096},
	{"file-size", "2T", 2ull << 40},
	{"pids", "64", 64},
	{"open-files", "256", 256},
	{"io-read", "50M", 50ull << 20},
	{"io-write", "1.5G", 3ull << 29},
	{"cpu", "150%", 150},
};

static void test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct policy_limits limits = {}, expected = {};
		struct failure failure = {};

		assert_int_equal(limit_parse(kind(good[i].option), good[i].text, &limits, &failure),
				 0);
		*limit_of(&expected, kind(good[i].option)) = good[i].value;
		assert_memory_equal(&limits, &expected, sizeof(limits));
	}
}

static const struct {
	const char *option, *text;
	int error;
} bad[] = {
	{"timeout", "", -EINVAL},
	{"timeout", "60", -EINVAL},
	{"memory", "512", -EINVAL},
	{"cpu", "100", -EINVAL},
	{"timeout", "0", -EINVAL},
	{"timeout", "-1s", -EINVAL},
	{"timeout", "1x", -EINVAL},
	{"timeout", " 1s", -EINVAL},
	{"timeout", "1s ", -EINVAL},
	{"timeout", "1.s", -EINVAL},
	{"timeout", "s", -EINVAL},
	{"timeout", "inf", -EINVAL},
	{"timeout", "99999999999h", -ERANGE},
	{"timeout", "0x10", -EINVAL},
	{"memory", "1MM", -EINVAL},
	{"memory", "1M1K", -EINVAL},
	{"memory", "99999999999999999999B", -ERANGE},
	{"memory", "9223372036854775808B", -ERANGE},
	{"memory", "0M", -EINVAL},
	{"pids", "1.5", -EINVAL},
	{"pids", "10%", -EINVAL},
	{"pids", "64k", -EINVAL},
	{"cpu", "%", -EINVAL},
};

static void test_refuse(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct policy_limits limits = {}, none = {};
		struct failure failure = {};

		assert_int_equal(limit_parse(kind(bad[i].option), bad[i].text, &limits, &failure),
				 bad[i].error);
		assert_non_null(strstr(failure.text, bad[i].option));
		assert_memory_equal(&limits, &none, sizeof(limits));
	}
}

static void test_format(void **state)
{
	static const struct {
		const char *option;
		uint64_t value;
		const char *text;
	} table[] = {
		{"timeout", 90 * NSEC_PER_SEC, "1m30s"},
		{"timeout", 500 * NSEC_PER_MSEC, "500ms"},
		{"timeout", 3600 * NSEC_PER_SEC, "1h"},
		{"timeout", 1500 * NSEC_PER_MSEC + 1, "1s500ms1ns"},
		{"memory", 512 << 20, "512M"},
		{"memory", (1 << 20) + 1, "1048577B"},
		{"memory", 1ull << 40, "1T"},
		{"pids", 64, "64"},
		{"cpu", 150, "150%"},
		{"memory", 0, "0"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct policy_limits limits = {};
		char text[LIMIT_TEXT_SIZE];

		limit_format(kind(table[i].option), table[i].value, text);
		assert_string_equal(text, table[i].text);
		if (table[i].value == 0)
			continue;
		assert_int_equal(limit_parse(kind(table[i].option), text, &limits, NULL), 0);
		assert_int_equal(*limit_of(&limits, kind(table[i].option)), table[i].value);
	}
}

/* Each kind must stand for a member of its own, or one option would set another's limit. */
static void test_kinds(void **state)
{
	struct policy_limits limits = {};

	(void)state;
	assert_int_equal(sizeof(limits), LIMIT_KINDS * sizeof(uint64_t));
	for (size_t i = 0; i < LIMIT_KINDS; i++)
		(*limit_of(&limits, &limit_kinds[i]))++;
	for (size_t i = 0; i < LIMIT_KINDS; i++)
		assert_int_equal(((uint64_t *)&limits)[i], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
