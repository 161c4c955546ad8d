/* SPDX-License-Identifier: Apache-2.0 */
/* Who follows the inbox is told of each that waits once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "cli/host/approvals_follow.h"

/* Pairs of digest and state. Returns the digests that are new, as one text. */
static void assert_new(json_t *seen, const char *entries, const char *expected)
{
	json_t *parsed = json_loads(entries, 0, NULL), *found = approvals_new(parsed, seen), *entry;
	char text[64] = "";
	size_t i;

	assert_non_null(parsed);
	json_array_foreach(found, i, entry)
		strcat(text, json_string_value(json_object_get(entry, "digest")));
	assert_string_equal(text, expected);
	json_decref(parsed);
	json_decref(found);
}

static void test_new(void **state)
{
	json_t *seen = json_object();

	(void)state;
	assert_new(seen, "[]", "");
	assert_new(
		seen,
		"[{\"digest\":\"a\",\"state\":\"waiting\"},{\"digest\":\"b\",\"state\":\"approved\"}]",
		"a");
	assert_new(
		seen,
		"[{\"digest\":\"a\",\"state\":\"waiting\"},{\"digest\":\"c\",\"state\":\"waiting\"}]",
		"c");
	assert_new(
		seen,
		"[{\"digest\":\"a\",\"state\":\"refused\"},{\"digest\":\"c\",\"state\":\"waiting\"}]",
		"");
	/* It was decided about, and is asked for again. */
	assert_new(
		seen,
		"[{\"digest\":\"a\",\"state\":\"waiting\"},{\"digest\":\"c\",\"state\":\"waiting\"}]",
		"a");
	json_decref(seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_new)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
