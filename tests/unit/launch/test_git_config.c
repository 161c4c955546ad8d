/* SPDX-License-Identifier: Apache-2.0 */
/* git's configuration files, read as data. Expected is what git 2.39 lists of the same text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "launch/git_config.h"

struct listing {
	char text[4096];
	size_t size;
};

static int on_variable(void *context, const char *name, const char *value)
{
	struct listing *l = context;

	l->size += (size_t)snprintf(l->text + l->size, sizeof(l->text) - l->size,
				    value ? "%s=%s\n" : "%s\n", name, value);
	return 0;
}

static void check(const char *text, int result, const char *expected)
{
	struct listing l = {};

	assert_int_equal(git_config_parse(text, strlen(text), on_variable, &l), result);
	assert_string_equal(l.text, expected);
}

static void test_syntax(void **state)
{
	(void)state;
	check("", 0, "");
	check("[user]\n\tname = A B \n\temail=a@b\n", 0, "user.name=A B\nuser.email=a@b\n");
	check("\xef\xbb\xbf[Core] hooksPath = x", 0, "core.hookspath=x\n");
	check("[a]b\n[a] c=\n", 0, "a.b\na.c=\n");
	check("[a]\nb = \" x \"  # y\nc = x;y\nd = \"x;y\" z ; w\n", 0,
	      "a.b= x \na.c=x\na.d=x;y z\n");
	check("[a]\nb = x\\\n  y\nc = \\\"\\\\\\t\n", 0, "a.b=x  y\na.c=\"\\\t\n");
	check("[Remote \"Or\\\"i]gin\"]\nURL = u\r\n", 0, "remote.Or\"i]gin.url=u\n");
	check("[branch.Main]\nx=1\n", 0, "branch.main.x=1\n");
	check("# c\n; c\n[a] # c\nb = 1 # c\n", 0, "a.b=1\n");
	check("[includeIf \"gitdir:~/w/\"]\npath = .x\n", 0, "includeif.gitdir:~/w/.path=.x\n");
}

/* git rejects these files. What stands before the mistake was read. */
static void test_malformed(void **state)
{
	static const char *const bad[] = {
		"b = 1\n",	     "[a\nb=1\n",    "[a b]\n",	       "[a \"b]\nc=1\n",
		"[a \"b\" ]\nc=1\n", "[a]\n1 = 2\n", "[a]\nb = \"c\n", "[a]\nb = \\x\n",
		"[a]\nb c\n",	     "[a]\nb = \\",  "[a]\n_ = 1\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		check(bad[i], -EBADMSG, "");
	check("[a]\nb=1\n]\n", -EBADMSG, "a.b=1\n");
}

/* Names and values beyond what is read are an error, never cut off. */
static void test_long(void **state)
{
	char text[3 * GIT_CONFIG_VALUE_MAX];
	struct listing l = {};
	size_t n;

	(void)state;
	n = (size_t)snprintf(text, sizeof(text), "[a]\nb = ");
	memset(text + n, 'x', GIT_CONFIG_VALUE_MAX);
	assert_int_equal(git_config_parse(text, n + GIT_CONFIG_VALUE_MAX, on_variable, &l),
			 -EBADMSG);
	memset(text, 'x', sizeof(text));
	text[0] = '[';
	assert_int_equal(git_config_parse(text, sizeof(text), on_variable, &l), -EBADMSG);
	memcpy(text, "[a]\n", 4);
	assert_int_equal(git_config_parse(text, sizeof(text), on_variable, &l), -EBADMSG);
	assert_string_equal(l.text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
