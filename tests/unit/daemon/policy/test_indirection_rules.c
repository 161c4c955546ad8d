/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for what protected names lead to, and the policy that has them. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/listed.h"
#include "daemon/policy/indirect_policy.h"
#include "daemon/policy/indirection_rules.h"
#include "policy/ask/question.h"
#include "policy/compile/compile.h"

#define TEXTS(...) ((char *[]){__VA_ARGS__, NULL})

static char policies[PATH_MAX], folder[] = "/tmp/cordon-XXXXXX";
static const char *const directories[] = {policies, NULL};
static const struct policy_search search = {.directories = directories};

static struct compiled_policy *compiled(const char *name)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *p;

	if (policy_compile(name, &search, d, &p) < 0) {
		_cleanup_(freep) char *why = diagnostics_format(d, 0);

		fail_msg("%s: %s", name, why);
	}
	return p;
}

static bool allows(const struct compiled_policy *p, const char *right, const char *object)
{
	const char *const bound[CORDON_MAX_ANCHORS] = {"/w", "/t", "/h"};
	char error[QUESTION_ERROR_TEXT] = "";
	struct policy_question q;
	struct policy_answer answer;

	if (question_read(p, right, object, bound, &q, error) < 0)
		fail_msg("%s %s: %s", right, object, error);
	assert_int_equal(question_judge(p, &q, &answer), 0);
	question_release(&q);
	return !answer.missing;
}

static char *made(const struct compiled_policy *p, char *const *texts, size_t active)
{
	struct failure failure = {};
	char **found = NULL, *path = NULL;

	assert_int_equal(indirect_policy_make(folder, p, texts, &path, &found, &failure), 0);
	assert_int_equal(list_length(found), 3 * active);
	compiled_strings_free(found);
	return path;
}

static void test_denied(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *base = compiled("claude-code"),
								*p = NULL;
	_cleanup_(freep) char *path = made(
		base,
		TEXTS("${workdir}/.envrc", "tools/envrc", "symbolic link", "${workdir}/.git/hooks",
		      "scripts/hooks", "core.hooksPath in .git/config", "${workdir}/.vscode",
		      "a*{b}\"\\c", "symbolic link", "${home}/.ssh/id_rsa", "key", "symbolic link",
		      "${workdir}/.envrc", "way/.", "symbolic link", "${workdir}/src/x", "src/y",
		      "symbolic link"),
		5);

	(void)state;
	assert_non_null(path);
	p = compiled(path);
	assert_string_equal(p->name, base->name);
	assert_true(allows(base, "write", "/w/tools/envrc"));
	for (size_t i = 0; i < 3; i++) {
		const char *right = ((const char *[]){"write", "create", "delete"})[i];

		assert_false(allows(p, right, "/w/tools/envrc"));
		assert_false(allows(p, right, "/w/scripts/hooks"));
		assert_false(allows(p, right, "/w/scripts/hooks/pre-commit"));
		assert_false(allows(p, right, "/w/a*{b}\"\\c/tasks.json"));
		assert_false(allows(p, right, "/w/key"));
		assert_false(allows(p, right, "/w/way"));
		assert_true(allows(p, right, "/w/way/x"));
		assert_true(allows(p, right, "/w/src/y"));
		assert_true(allows(p, right, "/w/axb/c"));
		assert_true(allows(p, right, "/w/scripts/other"));
	}
	/* What may be read there, may be read where it leads. */
	assert_true(allows(p, "read", "/w/scripts/hooks/pre-commit"));
	assert_true(allows(p, "read", "/w/way/x"));
	assert_false(allows(p, "read", "/w/key"));
	assert_false(allows(p, "read", "/w/tools/envrc"));
}

/* What the policy does not protect at the name, stays as it is. */
static void test_not_protected(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *base = compiled("observe");
	char *path = made(base, TEXTS("${workdir}/.envrc", "tools/envrc", "symbolic link"), 0);

	(void)state;
	assert_null(path);
	assert_null(made(base, NULL, 0));
}

/* The same text for the same work directory: it is compiled once. */
static void test_same(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *base = compiled("codex");
	char **texts = TEXTS("${workdir}/.envrc", "tools/envrc", "symbolic link");
	_cleanup_(freep) char *one = made(base, texts, 1), *two = made(base, texts, 1);

	(void)state;
	assert_string_equal(one, two);
	assert_int_equal(access(one, F_OK), 0);
	indirect_policies_forget(folder);
	assert_int_equal(access(one, F_OK), -1);
}

static void test_invalid(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *base = compiled("codex");
	char *rules, **active;

	(void)state;
	assert_int_equal(indirection_rules(base, TEXTS("${workdir}/.envrc", "../x", "y"), &rules,
					   &active),
			 -EINVAL);
	assert_int_equal(indirection_rules(base, TEXTS("${workdir}/.envrc", "x"), &rules, &active),
			 -EINVAL);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	indirect_policies_forget(folder);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_not_protected),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_invalid),
	};

	if (!realpath("policies", policies))
		return 1;
	return cmocka_run_group_tests(tests, setup, teardown);
}
