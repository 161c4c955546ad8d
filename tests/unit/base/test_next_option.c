/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with an option is told in one way, with what may have been meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/next_option.h"
#include "base/suggest.h"

static const struct option options[] = {
	{"log", required_argument, NULL, 'l'},
	{"lines", required_argument, NULL, 'n'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Of `cordon FIRST SECOND`: what the first option is, and what is said of it. */
static int read_first(const char *letters, char *first, char *second, struct failure *failure)
{
	char name[] = "events", *argv[] = {name, first, second, NULL};

	optind = 0;
	*failure = (struct failure){};
	return next_option(second ? 3 : 2, argv, letters, options, failure);
}

static void refuse(const char *expected, char *first, char *second)
{
	struct failure failure;

	assert_int_equal(read_first("n:h", first, second, &failure), '?');
	assert_string_equal(failure.text, expected);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("'--jsno' is not an option; did you mean '--json'?", "--jsno", NULL);
	refuse("'--lgo' is not an option; did you mean '--log'?", "--lgo=/var/log", NULL);
	refuse("'--frobnicate' is not an option", "--frobnicate", NULL);
	refuse("'--l' can be '--log' or '--lines'", "--l", "x");
	refuse("'--lines' needs a value", "--lines", NULL);
	refuse("'-n' needs a value", "-n", NULL);
	refuse("'--json' takes no value", "--json=yes", NULL);
	refuse("'-x' is not an option", "-x", NULL);
}

static void test_taken(void **state)
{
	struct failure failure;

	(void)state;
	assert_int_equal(read_first("n:h", "--json", NULL, &failure), 'j');
	assert_int_equal(read_first("n:h", "--li=3", NULL, &failure), 'n');
	assert_string_equal(optarg, "3");
	assert_int_equal(read_first("n:h", "-n", "4", &failure), 'n');
	assert_string_equal(optarg, "4");
	assert_int_equal(read_first("n:h", "word", "--json", &failure), 'j');
	assert_int_equal(read_first("+h", "word", "--json", &failure), -1);
	assert_string_equal(failure.text, "");
}

static void test_suggest(void **state)
{
	static const char *const names[] = {"run", "events", "top", "policy", "ps"};

	(void)state;
	assert_string_equal(suggest("rnu", names, 5), "run");
	assert_string_equal(suggest("evetns", names, 5), "events");
	assert_string_equal(suggest("polcy", names, 5), "policy");
	assert_null(suggest("foo", names, 5));
	assert_null(suggest("x", names, 5));
	assert_null(suggest("", names, 5));
	assert_null(suggest("frobnicate", names, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_suggest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
