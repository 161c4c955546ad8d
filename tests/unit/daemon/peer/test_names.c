/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host says of users and groups, what is kept of that, for how long, and what is no
 * answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "daemon/peer/names.h"

#define NOW 1000u

static char *const questions[] = {
	(char *)"root",		  (char *)"@daemon", (char *)"#0", (char *)"no-such-user",
	(char *)"@no-such-group", (char *)"#54321",  NULL};

static void answer(char **ret_data, size_t *ret_size)
{
	FILE *to = open_memstream(ret_data, ret_size);

	assert_non_null(to);
	names_look_up(questions, to);
	assert_int_equal(fclose(to), 0);
}

static void test_answers(void **state)
{
	_cleanup_(names_release) struct names names = {};
	_cleanup_(freep) char *data = NULL;
	const struct name *name;
	struct stat home;
	size_t size;

	(void)state;
	answer(&data, &size);
	assert_int_equal(names_learn(&names, questions, data, size, NOW), 0);
	name = names_find(&names, "root");
	assert_non_null(name);
	assert_int_equal(name->id, 0);
	assert_null(name->login);
	name = names_find(&names, "@daemon");
	assert_non_null(name);
	assert_int_equal(name->id, 1);
	name = names_find(&names, "#0");
	assert_non_null(name);
	assert_string_equal(name->login, "root");
	assert_int_equal(stat("/root", &home), 0);
	assert_int_equal(name->inode, home.st_ino);
	assert_int_equal(name->device, home.st_dev);
	for (size_t i = 3; questions[i]; i++)
		assert_null(names_find(&names, questions[i]));
	/* A user is no group, and nobody has asked for these. */
	assert_null(names_find(&names, "@root"));
	assert_null(names_find(&names, "daemon"));
	assert_null(names_find(NULL, "root"));
}

static void test_how_long(void **state)
{
	static char *const there[] = {(char *)"root", (char *)"#0", NULL};
	static char *const absent[] = {(char *)"root", (char *)"no-such-user", NULL};
	_cleanup_(names_release) struct names names = {};
	_cleanup_(freep) char *data = NULL;
	size_t size;

	(void)state;
	answer(&data, &size);
	assert_false(names_know(&names, there, NOW));
	assert_int_equal(names_learn(&names, questions, data, size, NOW), 0);
	assert_int_equal(names.count, 6);
	assert_true(names_know(&names, there, NOW + NAMES_KEPT_NSEC - 1));
	assert_false(names_know(&names, there, NOW + NAMES_KEPT_NSEC));
	/* What is not there may be made at any time. */
	assert_false(names_know(&names, absent, NOW));
	names_forget_missing(&names);
	assert_int_equal(names.count, 3);
	/* Twice is once, and what is old makes room. */
	assert_int_equal(names_learn(&names, questions, data, size, NOW + 1), 0);
	assert_int_equal(names.count, 6);
	assert_int_equal(names_learn(&names, &questions[5], data + size - 36, 36,
				     NOW + 2 * NAMES_KEPT_NSEC),
			 0);
	assert_int_equal(names.count, 1);
}

static void test_no_answers(void **state)
{
	_cleanup_(names_release) struct names names = {};
	_cleanup_(freep) char *data = NULL, *longer = NULL;
	size_t size;

	(void)state;
	answer(&data, &size);
	for (size_t cut = 0; cut < size; cut++)
		assert_int_equal(names_learn(&names, questions, data, cut, NOW), -EPROTO);
	longer = calloc(1, size + 1);
	assert_non_null(longer);
	memcpy(longer, data, size);
	assert_int_equal(names_learn(&names, questions, longer, size + 1, NOW), -EPROTO);
	/* The answers to others. */
	assert_int_equal(names_learn(&names, &questions[1], data, size, NOW), -EPROTO);
	assert_int_equal(names.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_how_long),
		cmocka_unit_test(test_no_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
