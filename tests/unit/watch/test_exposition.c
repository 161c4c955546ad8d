/* SPDX-License-Identifier: Apache-2.0 */
/* The text that Prometheus reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "watch/exposition.h"

static const struct exposition_family family = {"cordon_test", "gauge",
						"A \"test\" of \\ and\nmore."};

/* What was written, as text; the exposition's until it is released. */
static const char *text_of(struct exposition *x)
{
	assert_false(x->text.failed);
	buffer_add(&x->text, "", 1);
	x->text.size--;
	return x->text.data;
}

static void test_text(void **state)
{
	_cleanup_(exposition_release) struct exposition x = {};
	static const struct exposition_family empty = {"cordon_empty", "gauge", "Nothing."};
	static const struct exposition_label label = {"which", "one"};

	(void)state;
	exposition_begin(&x, &empty);
	exposition_begin(&x, &family);
	exposition_add(&x, "", NULL, UINT64_MAX);
	exposition_add(&x, "_bucket", &label, 0);
	exposition_add_real(&x, "", NULL, 0.25);
	assert_string_equal(text_of(&x), "# HELP cordon_test A \"test\" of \\\\ and\\nmore.\n"
					 "# TYPE cordon_test gauge\n"
					 "cordon_test 18446744073709551615\n"
					 "cordon_test_bucket{which=\"one\"} 0\n"
					 "cordon_test 0.25\n");
	assert_int_equal(x.series, 3);
}

static void test_escapes(void **state)
{
	_cleanup_(exposition_release) struct exposition x = {};
	static const struct exposition_label label = {"which", "a\\b\"c\nd} 1\ncordon_forged 1"};

	(void)state;
	exposition_begin(&x, &family);
	exposition_add(&x, "", &label, 1);
	assert_non_null(strstr(text_of(&x),
			       "cordon_test{which=\"a\\\\b\\\"c\\nd} 1\\ncordon_forged 1\"} 1\n"));
	assert_null(strstr(text_of(&x), "\ncordon_forged"));
}

/* A character of two bytes does not lose its second. */
static void test_long_label(void **state)
{
	for (size_t before = EXPOSITION_MAX_LABEL - 3; before <= EXPOSITION_MAX_LABEL; before++) {
		_cleanup_(exposition_release) struct exposition x = {};
		char value[2 * EXPOSITION_MAX_LABEL] = "", wanted[2 * EXPOSITION_MAX_LABEL];
		const struct exposition_label label = {"which", value};
		bool fits = before + strlen("\u00e4") <= EXPOSITION_MAX_LABEL;

		memset(value, 'x', before);
		snprintf(value + before, sizeof(value) - before, "\u00e4\u00e4\u00e4");
		exposition_begin(&x, &family);
		exposition_add(&x, "", &label, 1);
		snprintf(wanted, sizeof(wanted), "%.*s%s\"} 1\n", (int)before, value,
			 fits ? "\u00e4" : "");
		assert_non_null(strstr(text_of(&x), wanted));
	}
	(void)state;
}

static void test_bound(void **state)
{
	_cleanup_(exposition_release) struct exposition x = {.reserved = 1};
	size_t lines = 0;

	(void)state;
	exposition_begin(&x, &family);
	for (unsigned int i = 0; i < 2 * EXPOSITION_MAX_SERIES; i++)
		exposition_add(&x, "", NULL, i);
	assert_int_equal(x.series, EXPOSITION_MAX_SERIES - 1);
	assert_int_equal(x.left_out, EXPOSITION_MAX_SERIES + 1);
	x.reserved = 0;
	exposition_add(&x, "", NULL, 1);
	exposition_add(&x, "", NULL, 1);
	assert_int_equal(x.series, EXPOSITION_MAX_SERIES);
	for (const char *at = text_of(&x); (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, EXPOSITION_MAX_SERIES + 2);
}

static void test_no_number(void **state)
{
	_cleanup_(exposition_release) struct exposition x = {};

	(void)state;
	exposition_begin(&x, &family);
	exposition_add_real(&x, "", NULL, NAN);
	exposition_add_real(&x, "", NULL, INFINITY);
	assert_int_equal(x.text.size, 0);
	assert_int_equal(x.left_out, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	   cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_long_label), cmocka_unit_test(test_bound),
		cmocka_unit_test(test_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
