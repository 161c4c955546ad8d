/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `cordon run`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/term/exit_status.h"
#include "cli/run/run_options.h"
#include "base/suggest.h"

#define MAX_ARGUMENTS 32

static int parse(struct run_options *options, struct failure *failure, const char *const *words)
{
	static const char *argv[MAX_ARGUMENTS]; /* the options refer to it */
	int argc = 0;

	argv[argc++] = "run";
	while (*words)
		argv[argc++] = *words++;
	argv[argc] = NULL;
	return run_options_parse(argc, (char **)argv, options, failure);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_all(void **state)
{
	struct run_options o;
	struct failure failure = {};

	(void)state;
	assert_int_equal(parse(&o, &failure,
			       WORDS("--policy=p", "--workdir", "w", "--session", "s", "--agent=a",
				     "--executor", "e", "--language=l", "--user", "u", "--observe",
				     "--stdin=null", "--log", "d", "--report=r", "--bind",
				     "docs=/x=y", "--timeout", "2s", "--", "cmd", "--policy")),
			 0);
	assert_string_equal(o.policy, "p");
	assert_string_equal(o.workdir, "w");
	assert_string_equal(o.session, "s");
	assert_string_equal(o.agent, "a");
	assert_string_equal(o.executor, "e");
	assert_string_equal(o.language, "l");
	assert_string_equal(o.user, "u");
	assert_true(o.observe);
	assert_true(o.no_input);
	assert_string_equal(o.log, "d");
	assert_string_equal(o.report, "r");
	assert_int_equal(o.bind_count, 1);
	assert_string_equal(o.binds[0].name, "docs");
	assert_string_equal(o.binds[0].directory, "/x=y");
	assert_int_equal(o.limits.wall_nsec, 2 * NSEC_PER_SEC);
	assert_int_equal(o.argc, 2);
	assert_string_equal(o.argv[0], "cmd");
	assert_string_equal(o.argv[1], "--policy");
	run_options_release(&o);
}

static void test_defaults(void **state)
{
	struct run_options o;

	(void)state;
	/* The command's own options stay its own, "--" or not. */
	assert_int_equal(parse(&o, NULL, WORDS("ls", "--help", "-l")), 0);
	assert_null(o.policy);
	assert_string_equal(o.workdir, ".");
	assert_string_equal(o.executor, "cordon-run");
	assert_int_equal(o.argc, 3);
	assert_false(o.help);
	run_options_release(&o);
	assert_int_equal(parse(&o, NULL, WORDS("--help")), 0);
	assert_true(o.help);
	run_options_release(&o);
}

static void refuse(const char *text, const char *const *words)
{
	struct run_options o;
	struct failure failure = {};

	assert_int_equal(parse(&o, &failure, words), -EINVAL);
	if (!strstr(failure.text, text))
		fail_msg("'%s' is not in '%s'", text, failure.text);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("no command", WORDS("--observe"));
	refuse("no command", WORDS("--"));
	refuse("no command", WORDS("--", ""));
	refuse("did you mean '--workdir'", WORDS("--wrokdir", "x", "true"));
	refuse("did you mean '--memory'", WORDS("--memry=1M", "true"));
	refuse("run: '--zzzzzzzz' is not an option", WORDS("--zzzzzzzz", "true"));
	refuse("'-x' is not an option", WORDS("-x", "true"));
	refuse("'--policy' needs a value", WORDS("--policy"));
	refuse("takes no value", WORDS("--observe=yes", "true"));
	refuse("'inherit' or 'null'", WORDS("--stdin", "none", "true"));
	refuse("is empty", WORDS("--policy", "", "true"));
	refuse("not UTF-8", WORDS("--agent", "\xff", "true"));
	refuse("--timeout takes", WORDS("--timeout", "0", "true"));
	refuse("NAME=DIR", WORDS("--bind", "docs", "true"));
	refuse("NAME=DIR", WORDS("--bind", "Docs=/x", "true"));
	refuse("NAME=DIR", WORDS("--bind", "=/x", "true"));
	refuse("NAME=DIR", WORDS("--bind", "a=", "true"));
	refuse("bound by cordon itself", WORDS("--bind", "tmp=/x", "true"));
	refuse("twice", WORDS("--bind", "a=/x", "--bind", "a=/y", "true"));
	refuse("5 times",
	       WORDS("--bind", "a=/x", "--bind", "b=/x", "--bind", "c=/x", "--bind", "d=/x",
		     "--bind", "e=/x", "--bind", "f=/x", "--bind", "g=/x", "true"));
}

static void test_suggest(void **state)
{
	static const char *const names[] = {"run", "status", "events"};

	(void)state;
	assert_string_equal(suggest("rnu", names, 3), "run");
	assert_string_equal(suggest("statsu", names, 3), "status");
	assert_string_equal(suggest("event", names, 3), "events");
	assert_null(suggest("x", names, 3));
	assert_null(suggest("", names, 3));
	assert_null(suggest("a-very-long-word-that-no-command-could-ever-have", names, 3));
}

static void test_exit_status(void **state)
{
	(void)state;
	assert_int_equal(exit_status_of_wait(0), 0);
	assert_int_equal(exit_status_of_wait(7 << 8), 7);
	assert_int_equal(exit_status_of_wait(255 << 8), 255);
	assert_int_equal(exit_status_of_wait(9), 137);
	assert_int_equal(exit_status_of_wait(11 | 0x80), 139); /* with a core dump */
	assert_int_equal(exit_status_of_exec(-ENOENT), 127);
	assert_int_equal(exit_status_of_exec(-EACCES), 126);
	assert_int_equal(exit_status_of_exec(EPERM), 126);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),	    cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_refused),	    cmocka_unit_test(test_suggest),
		cmocka_unit_test(test_exit_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
