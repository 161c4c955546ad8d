/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy`: what each command's exit status tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/policy/policy_command.h"

static const char *const directories[] = {"policies", NULL};
static const struct policy_search search = {.directories = directories};

typedef int command(const struct policy_search *search, int argc, char **argv);

/* The words behind the command, up to a NULL. */
static int run(command *c, ...)
{
	char *argv[16] = {"command"};
	int argc = 1;
	va_list arguments;

	va_start(arguments, c);
	while ((argv[argc] = va_arg(arguments, char *)))
		argc++;
	va_end(arguments);
	optind = 0;
	return c(&search, argc, argv);
}

static void test_check(void **state)
{
	(void)state;
	assert_int_equal(run(policy_command_check, "python-sandbox", "policies/runtime/linux.yaml",
			     NULL),
			 0);
	assert_int_equal(run(policy_command_check, "--json", "python-sandbox", NULL), 0);
	assert_int_equal(run(policy_command_check, "tests/unit/policy/bad/rule-both.yaml", NULL),
			 1);
	assert_int_equal(run(policy_command_check, NULL), 2);
}

static void test_show(void **state)
{
	(void)state;
	assert_int_equal(run(policy_command_show, "shell-sandbox", NULL), 0);
	assert_int_equal(run(policy_command_show, "--json", "policies/runtime/git.yaml", NULL), 0);
	assert_int_equal(run(policy_command_show, "no-such-policy", NULL), 1);
	assert_int_equal(run(policy_command_show, NULL), 2);
	assert_int_equal(run(policy_command_show, "--help", NULL), 0);
}

static void test_explain(void **state)
{
	(void)state;
	assert_int_equal(run(policy_command_explain, "python-sandbox", "read", "/usr/lib/x", NULL),
			 0);
	assert_int_equal(run(policy_command_explain, "python-sandbox", "read", "/root/x", NULL), 1);
	assert_int_equal(run(policy_command_explain, "--json", "--workdir", "/root",
			     "python-sandbox", "read", "/root/x", NULL),
			 0);
	assert_int_equal(run(policy_command_explain, "--bind", "tmp=/var/t", "python-sandbox",
			     "write", "/var/t/x", NULL),
			 0);
	assert_int_equal(run(policy_command_explain, "--bind", "data=/x", "python-sandbox", "read",
			     "/x/y", NULL),
			 2);
	assert_int_equal(run(policy_command_explain, "--workdir", "here", "python-sandbox", "read",
			     "/x", NULL),
			 2);
	/* The rule names the address, so that it leads to the host itself, too. */
	assert_int_equal(run(policy_command_explain, "pip-install", "host", "127.0.0.1:3141", NULL),
			 0);
	assert_int_equal(run(policy_command_explain, "pip-install", "host", "127.0.0.2:3141", NULL),
			 1);
	assert_int_equal(run(policy_command_explain, "python-sandbox", "read", "x", NULL), 2);
	assert_int_equal(run(policy_command_explain, "no-such-policy", "read", "/x", NULL), 2);
	assert_int_equal(run(policy_command_explain, "python-sandbox", "read", NULL), 2);
}

static void test_test(void **state)
{
	(void)state;
	assert_int_equal(run(policy_command_test, "policies/tests/python-sandbox.yaml",
			     "policies/tests/observe.yaml", NULL),
			 0);
	assert_int_equal(run(policy_command_test, "--json", "policies/tests/observe.yaml", NULL),
			 0);
	assert_int_equal(run(policy_command_test, "policies/python-sandbox.yaml", NULL), 2);
	assert_int_equal(run(policy_command_test, "no-such-table", NULL), 2);
	assert_int_equal(run(policy_command_test, NULL), 2);
}

static void test_diff(void **state)
{
	(void)state;
	assert_int_equal(run(policy_command_diff, "python-sandbox", "python-sandbox", NULL), 0);
	assert_int_equal(run(policy_command_diff, "shell-sandbox", "shell-sandbox", NULL), 0);
	assert_int_equal(run(policy_command_diff, "python-sandbox", "shell-sandbox", NULL), 1);
	assert_int_equal(run(policy_command_diff, "--json", "python-sandbox", "observe", NULL), 1);
	assert_int_equal(run(policy_command_diff, "python-sandbox", "no-such-policy", NULL), 2);
	assert_int_equal(run(policy_command_diff, "python-sandbox", NULL), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),	cmocka_unit_test(test_show),
		cmocka_unit_test(test_explain), cmocka_unit_test(test_test),
		cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
