/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of an execution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "launch/environment.h"

#define STRINGS(...) ((char *[]){__VA_ARGS__, NULL})
#define NONE	     ((char *[]){NULL})

static const struct launch_identity myself;
static const struct environment_given nothing_given;

static void assert_strings(char **found, char *const *expected)
{
	size_t i = 0;

	for (; expected[i]; i++) {
		assert_non_null(found[i]);
		assert_string_equal(found[i], expected[i]);
	}
	assert_null(found[i]);
}

static struct environment build(char *const *caller, const struct policy_environment *policy,
				const struct environment_anchor *anchors, size_t anchor_count,
				const struct launch_identity *identity)
{
	struct failure failure = {};
	const struct environment_given given = {anchors, anchor_count, NULL};
	struct environment environment;

	assert_int_equal(
		environment_build(caller, policy, &given, identity, &environment, &failure), 0);
	assert_string_equal(failure.text, "");
	return environment;
}

static void test_keep(void **state)
{
	struct policy_environment policy = {
		.keep = STRINGS("PATH", "LC_*", "X?"),
		.set_names = NONE,
		.set_values = NONE,
	};
	struct environment e = build(STRINGS("PATH=/bin", "AWS_SECRET_ACCESS_KEY=s", "LC_ALL=C",
					     "LC_TIME=de", "XY=1", "XYZ=2", "PATHX=3", "EMPTY="),
				     &policy, NULL, 0, &myself);

	(void)state;
	assert_strings(e.variables, STRINGS("PATH=/bin", "LC_ALL=C", "LC_TIME=de", "XY=1"));
	assert_strings(e.kept, STRINGS("PATH", "LC_ALL", "LC_TIME", "XY"));
	assert_strings(e.removed, STRINGS("AWS_SECRET_ACCESS_KEY", "XYZ", "PATHX", "EMPTY"));
	environment_release(&e);
}

static void test_nothing(void **state)
{
	struct policy_environment policy = {.keep = NONE, .set_names = NONE, .set_values = NONE};
	struct environment e = build(STRINGS("A=1"), &policy, NULL, 0, &myself);

	(void)state;
	assert_strings(e.variables, NONE);
	assert_strings(e.kept, NONE);
	assert_strings(e.removed, STRINGS("A"));
	environment_release(&e);
}

/* A pattern does not keep what makes a program load code; its very name does; keep_all does. */
static void test_loading(void **state)
{
	char **caller = STRINGS("LD_PRELOAD=/x.so", "LD_LIBRARY_PATH=/x", "PYTHONPATH=/x",
				"BASH_ENV=/x", "BASH_FUNC_ls%%=() { :; }", "PERL5OPT=-Mx",
				"NODE_OPTIONS=-r x", "GIT_SSH_COMMAND=x", "GOOD=1");
	struct policy_environment pattern = {
		.keep = STRINGS("*", "LD_*"), .set_names = NONE, .set_values = NONE};
	struct policy_environment literal = {
		.keep = STRINGS("PYTHONPATH"), .set_names = NONE, .set_values = NONE};
	struct policy_environment all = {
		.keep_all = true, .keep = NONE, .set_names = NONE, .set_values = NONE};
	struct environment e;

	(void)state;
	e = build(caller, &pattern, NULL, 0, &myself);
	assert_strings(e.variables, STRINGS("GOOD=1"));
	environment_release(&e);
	e = build(caller, &literal, NULL, 0, &myself);
	assert_strings(e.variables, STRINGS("PYTHONPATH=/x"));
	environment_release(&e);
	e = build(caller, &all, NULL, 0, &myself);
	assert_strings(e.variables, caller);
	assert_strings(e.removed, NONE);
	environment_release(&e);
}

static void test_set_and_expand(void **state)
{
	const struct environment_anchor anchors[] = {
		{"workdir", "/srv/w"}, {"tmp", "/tmp/cordon-1"}, {"docs", "/srv/docs"}};
	struct policy_environment policy = {
		.keep = STRINGS("PATH", "PWD", "TMPDIR"),
		.set_names = STRINGS("HOME", "MIX", "PATH"),
		.set_values = STRINGS("${workdir}", "a${docs}/b:${tmp}$c", "/usr/bin"),
	};
	struct environment e = build(STRINGS("PATH=/evil", "PWD=/root", "TMPDIR=/tmp"), &policy,
				     anchors, ARRAY_SIZE(anchors), &myself);

	(void)state;
	assert_strings(e.variables,
		       STRINGS("PWD=/srv/w", "HOME=/srv/w", "MIX=a/srv/docs/b:/tmp/cordon-1$c",
			       "PATH=/usr/bin", "TMPDIR=/tmp/cordon-1"));
	assert_strings(e.kept, STRINGS("PWD"));
	assert_strings(e.removed, STRINGS("PATH", "TMPDIR"));
	assert_string_equal(environment_get(e.variables, "HOME"), "/srv/w");
	assert_null(environment_get(e.variables, "HOM"));
	environment_release(&e);
}

static void test_policy_sets_tmpdir(void **state)
{
	const struct environment_anchor tmp = {"tmp", "/tmp/cordon-1"};
	struct policy_environment policy = {
		.keep = NONE, .set_names = STRINGS("TMPDIR"), .set_values = STRINGS("${tmp}/x")};
	struct environment e = build(NONE, &policy, &tmp, 1, &myself);

	(void)state;
	assert_strings(e.variables, STRINGS("TMPDIR=/tmp/cordon-1/x"));
	environment_release(&e);
}

static void test_unbound(void **state)
{
	struct policy_environment policy = {
		.keep = NONE, .set_names = STRINGS("A"), .set_values = STRINGS("x${home}")};
	struct environment e;
	struct failure failure = {};

	(void)state;
	assert_int_equal(environment_build(NONE, &policy, &nothing_given, &myself, &e, &failure),
			 -EINVAL);
	assert_non_null(strstr(failure.text, "${home}"));
}

/* Each value of a setting makes a pair; a setting without a value makes none. */
static void test_git_settings(void **state)
{
	struct git_settings git = {
		.list = STRINGS("user.name", "A B", "safe.directory", "/x", "safe.directory", "*"),
		.count = 3,
	};
	const struct environment_anchor tmp = {"tmp", "/tmp/cordon-1"};
	const struct environment_given given = {&tmp, 1, &git};
	struct policy_environment policy = {
		.keep = NONE,
		.set_names = STRINGS("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0",
				     "GIT_CONFIG_KEY_1", "GIT_CONFIG_VALUE_1", "GIT_CONFIG_KEY_2",
				     "GIT_CONFIG_VALUE_2", "GIT_CONFIG_KEY_3", "GIT_CONFIG_VALUE_3",
				     "GIT_PAGER"),
		.set_values = STRINGS("4", "user.email", "${git:user.email}", "user.name",
				      "${git:user.name}", "safe.directory", "${git:safe.directory}",
				      "core.x", "${tmp}/y", "cat"),
	};
	struct failure failure = {};
	struct environment e;
	char **set;

	(void)state;
	assert_int_equal(environment_build(STRINGS("GIT_CONFIG_KEY_0=core.pager"), &policy, &given,
					   &myself, &e, &failure),
			 0);
	assert_strings(e.variables,
		       STRINGS("GIT_PAGER=cat", "GIT_CONFIG_KEY_0=user.name",
			       "GIT_CONFIG_VALUE_0=A B", "GIT_CONFIG_KEY_1=safe.directory",
			       "GIT_CONFIG_VALUE_1=/x", "GIT_CONFIG_KEY_2=safe.directory",
			       "GIT_CONFIG_VALUE_2=*", "GIT_CONFIG_KEY_3=core.x",
			       "GIT_CONFIG_VALUE_3=/tmp/cordon-1/y", "GIT_CONFIG_COUNT=4",
			       "TMPDIR=/tmp/cordon-1"));
	assert_strings(e.removed, STRINGS("GIT_CONFIG_KEY_0"));
	environment_release(&e);
	/* Nothing is known of the user. */
	assert_int_equal(environment_set(&policy, &(struct environment_given){&tmp, 1, NULL}, &set,
					 &failure),
			 0);
	assert_strings(set, STRINGS("GIT_PAGER=cat", "GIT_CONFIG_KEY_0=core.x",
				    "GIT_CONFIG_VALUE_0=/tmp/cordon-1/y", "GIT_CONFIG_COUNT=1",
				    "TMPDIR=/tmp/cordon-1"));
	for (size_t i = 0; set[i]; i++)
		free(set[i]);
	free(set);
	/* git takes such numbers; a policy has no use for them. */
	policy.set_values = STRINGS("1000000", "a", "b", "c", "d", "e", "f", "g", "h", "i");
	assert_int_equal(environment_build(NONE, &policy, &given, &myself, &e, &failure), -EINVAL);
}

static void test_other_user(void **state)
{
	char name[] = "nobody", home[] = "/nonexistent";
	struct launch_identity nobody = {.change = true, .name = name, .home = home};
	struct launch_identity number = {.change = true};
	struct policy_environment policy = {.keep = STRINGS("HOME", "USER", "LOGNAME", "LANG"),
					    .set_names = NONE,
					    .set_values = NONE};
	char **caller = STRINGS("HOME=/root", "USER=root", "LOGNAME=root", "LANG=C");
	struct environment e;

	(void)state;
	e = build(caller, &policy, NULL, 0, &nobody);
	assert_strings(e.variables,
		       STRINGS("HOME=/nonexistent", "USER=nobody", "LOGNAME=nobody", "LANG=C"));
	environment_release(&e);
	e = build(caller, &policy, NULL, 0, &number);
	assert_strings(e.variables, STRINGS("HOME=/", "LANG=C"));
	assert_strings(e.removed, STRINGS("USER", "LOGNAME"));
	environment_release(&e);
}

/* Duplicates would let a program see another value than the one that was looked at. */
static void test_malformed(void **state)
{
	struct policy_environment policy = {
		.keep_all = true, .keep = NONE, .set_names = NONE, .set_values = NONE};
	struct environment e =
		build(STRINGS("A=1", "A=2", "novalue", "=x", "a b=1", "\xff=1", "B="), &policy,
		      NULL, 0, &myself);

	(void)state;
	assert_strings(e.variables, STRINGS("A=1", "B="));
	assert_strings(e.kept, STRINGS("A", "B"));
	environment_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_loading),
		cmocka_unit_test(test_set_and_expand),
		cmocka_unit_test(test_policy_sets_tmpdir),
		cmocka_unit_test(test_unbound),
		cmocka_unit_test(test_git_settings),
		cmocka_unit_test(test_other_user),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
