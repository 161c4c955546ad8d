/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was refused as a file that amends the policy: one rule each, by section, and settings apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "daemon/execution/refused.h"
#include "tests/unit/daemon/execution/reported_denial.h"

static void gather(const char *const *rules, size_t count, struct refused *refused)
{
	struct reported reported = {};

	for (size_t i = 0; i < count; i++)
		reported_denial(&reported, rules[i]);
	assert_int_equal(refused_gather(&reported, refused), 0);
	reported_release(&reported);
}

static void test_text(void **state)
{
	static const char *const rules[] = {
		"files:\n  - {allow: [read], paths: [\"/a\"]}",
		NULL,
		"network:\n  - {allow: [connect], to: [192.0.2.1], ports: [443], protocols: [tcp]}",
		"files:\n  - {allow: [read], paths: [\"/a\"]}",
		"process: {trace: own}",
		"files:\n  - {allow: [read], paths: [\"/b\"]}\nexec:\n  - {allow: [run], paths: [\"/b\"]}",
	};
	struct refused refused = {.file = strdup("/etc/x \"y\".yaml")};
	_cleanup_(freep) char *text = NULL;

	(void)state;
	gather(rules, ARRAY_SIZE(rules), &refused);
	assert_int_equal(json_object_size(refused.rules), 3);
	assert_int_equal(refused.settings, 1);
	assert_int_equal(refused.denied, 1);
	text = refused_policy_text(&refused);
	assert_string_equal(
		text, "# What an execution was denied, and somebody has asked for.\n"
		      "version: 1\namends: \"/etc/x \\\"y\\\".yaml\"\n"
		      "files:\n"
		      "  - {allow: [read], paths: [\"/a\"]}\n"
		      "  - {allow: [read], paths: [\"/b\"]}\n"
		      "exec:\n"
		      "  - {allow: [run], paths: [\"/b\"]}\n"
		      "network:\n"
		      "  - {allow: [connect], to: [192.0.2.1], ports: [443], protocols: [tcp]}\n");
	refused_release(&refused);
}

/* However much was refused, what is asked for has a bound, and what is left out is counted. */
static void test_bounds(void **state)
{
	char *rules[REFUSED_RULES_MAX + 5], *large[3];
	struct refused refused = {};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		assert_true(asprintf(&rules[i], "files:\n  - {allow: [read], paths: [\"/%zu\"]}",
				     i) > 0);
	gather((const char *const *)rules, ARRAY_SIZE(rules), &refused);
	assert_int_equal(json_object_size(refused.rules), REFUSED_RULES_MAX);
	assert_int_equal(refused.omitted, 5);
	refused_release(&refused);
	for (size_t i = 0; i < ARRAY_SIZE(large); i++) {
		large[i] = malloc(REFUSED_BYTES_MAX / 2 + 1);
		memset(large[i], 'a' + (int)i, REFUSED_BYTES_MAX / 2);
		large[i][REFUSED_BYTES_MAX / 2] = '\0';
	}
	gather((const char *const *)large, ARRAY_SIZE(large), &refused);
	assert_int_equal(json_object_size(refused.rules), 2);
	assert_int_equal(refused.omitted, 1);
	refused_release(&refused);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		free(rules[i]);
	for (size_t i = 0; i < ARRAY_SIZE(large); i++)
		free(large[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
