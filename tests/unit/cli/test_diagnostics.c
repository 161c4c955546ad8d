/* SPDX-License-Identifier: Apache-2.0 */
/* What --json says of a wrong file has one shape, whichever command reads the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/policy/policy_command.h"
#include "cli/term/commands.h"

static const char *const directories[] = {"policies", NULL};
static const struct policy_search search = {.directories = directories};

static int check(int argc, char **argv)
{
	return policy_command_check(&search, argc, argv);
}

static int test(int argc, char **argv)
{
	return policy_command_test(&search, argc, argv);
}

/* The diagnostics that a command prints. */
static json_t *diagnostics_of(int (*run)(int argc, char **argv), int status, int argc, char **argv)
{
	int fds[2], kept = dup(STDOUT_FILENO);
	_cleanup_(freep) char *text = NULL;
	json_t *answer, *list;
	size_t size;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	fflush(stdout);
	dup2(fds[1], STDOUT_FILENO);
	optind = 0;
	assert_int_equal(run(argc, argv), status);
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	close(fds[1]);
	assert_int_equal(io_read_all(fds[0], 1 << 16, &text, &size), 0);
	close(fds[0]);
	answer = json_loads(text, 0, NULL);
	assert_non_null(answer);
	assert_true(json_is_false(json_object_get(answer, "ok")));
	list = json_incref(json_object_get(answer, "diagnostics"));
	json_decref(answer);
	assert_true(json_array_size(list) > 0);
	return list;
}

static void assert_shape(const json_t *list, const char *file)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		const json_t *fix = json_object_get(entry, "fix");

		assert_int_equal(json_object_size(entry), 6);
		assert_string_equal(json_string_value(json_object_get(entry, "severity")), "error");
		assert_string_equal(json_string_value(json_object_get(entry, "file")), file);
		assert_true(json_integer_value(json_object_get(entry, "line")) > 0);
		assert_true(json_integer_value(json_object_get(entry, "column")) > 0);
		assert_true(json_string_length(json_object_get(entry, "message")) > 0);
		assert_true(json_is_string(fix) || json_is_null(fix));
	}
}

static void test_shape(void **state)
{
	char file[] = "tests/unit/policy/bad/process.yaml";
	char *argv[] = {"check", "--json", file, NULL};
	json_t *list = diagnostics_of(check, 1, 3, argv);

	(void)state;
	assert_shape(list, file);
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 2), "fix")),
			    "did you mean \"capabilities\"?");
	json_decref(list);
	/* It is neither a table of accesses nor a cordon.yaml. */
	argv[0] = "test";
	list = diagnostics_of(test, 2, 3, argv);
	assert_shape(list, file);
	json_decref(list);
}

static void test_config(void **state)
{
	char file[] = "tests/unit/policy/bad/process.yaml";
	char *argv[] = {"config", "--json", "check", file, NULL};
	json_t *list = diagnostics_of(cmd_config, 1, 4, argv);

	(void)state;
	assert_shape(list, file);
	json_decref(list);
}

static void test_no_place(void **state)
{
	char *argv[] = {"check", "--json", "python-sandbux", NULL};
	json_t *list = diagnostics_of(check, 1, 3, argv);
	const json_t *entry = json_array_get(list, 0);

	(void)state;
	assert_int_equal(json_object_size(entry), 6);
	assert_true(json_is_null(json_object_get(entry, "line")));
	assert_true(json_is_null(json_object_get(entry, "column")));
	assert_non_null(strstr(json_string_value(json_object_get(entry, "fix")),
			       "did you mean \"python-sandbox\"?"));
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
