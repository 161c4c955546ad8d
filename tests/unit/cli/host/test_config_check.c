/* SPDX-License-Identifier: Apache-2.0 */
/* cordon config check finds what a daemon would find, with the line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/host/config_check.h"

static char top[] = "/var/tmp/cordon-unit-check-XXXXXX";

static int setup(void **state)
{
	(void)state;
	strcpy(top + strlen(top) - 6, "XXXXXX");
	assert_non_null(mkdtemp(top));
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static const char *at(const char *name)
{
	static char path[4][256];
	static unsigned int next;
	char *made = path[next++ % 4];

	snprintf(made, sizeof(path[0]), "%s/%s", top, name);
	return made;
}

static void write_policy(const char *text)
{
	FILE *file = fopen(at("p.yaml"), "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* What is said of an entry with these keys besides, in line 3. Caller frees. */
static char *said(const char *match, const char *more, size_t *ret_errors)
{
	struct diagnostics *d = diagnostics_new();
	struct config *config = NULL;
	char text[2048], *whole;

	snprintf(
		text, sizeof(text),
		"version: 1\nexecutors:\n  - {name: a, match: {%s}, policy: %s, workdir_under: [%s]%s}\n",
		match, at("p.yaml"), top, more);
	assert_int_equal(config_parse(text, strlen(text), "c.yaml", d, &config), 0);
	assert_int_equal(config_check(config, "c.yaml", d), 0);
	*ret_errors = diagnostics_errors(d);
	whole = diagnostics_format(d, 0);
	config_free(config);
	diagnostics_free(d);
	return whole;
}

static void expect(const char *match, const char *more, const char *text, size_t count)
{
	size_t errors;
	char *whole = said(match, more, &errors);

	if (errors != count || !strstr(whole, text))
		fail_msg("expected %zu, with \"%s\", not: %s", count, text, whole);
	free(whole);
}

static void entries(void **state)
{
	(void)state;
	write_policy("version: 1\nname: p\nvariables: [venv]\nlimits: {wall: 10s}\n"
		     "environment: {keep: [PATH]}\n");
	expect("executable: /bin/true", "", "", 0);
	expect("executable: /no/such", "",
	       "c.yaml:3:1: error: executor a: its program /no/such: No such file", 1);
	expect("executable: /bin/true, user: nobodyknows", "", "no user nobodyknows", 1);
	expect("executable: /bin/true, cgroup: /no/such", "", "the cgroup", 1);
	expect("executable: /bin/true", ", children: {except: [/no/such]}", "the program /no/such",
	       1);
	expect("executable: /bin/true", ", bind: {venv: /no/such}", "${venv}", 1);
	expect("executable: /bin/true", ", bind: {other: /}", "has no ${other}", 1);
	expect("executable: /bin/true", ", timeout: 20s", "is more than the policy's", 1);
	expect("executable: /no/such", ", timeout: 20s", "its program", 2);
}

static void itself(void **state)
{
	char more[256];

	(void)state;
	write_policy("version: 1\nname: p\n");
	snprintf(more, sizeof(more), ", itself: {policy: %s, bind: {venv: /}}", at("p.yaml"));
	expect("executable: /no/such", more, "executor a/itself: its policy p has no ${venv}", 2);
}

static void policy(void **state)
{
	(void)state;
	expect("executable: /bin/true", "", "c.yaml:3:1: error: executor a: its policy", 2);
	write_policy("version: 1\nname: p\nnonsense: true\n");
	expect("executable: /bin/true", "", "nonsense", 2);
	write_policy("version: 1\nname: p\nenvironment: {keep: [\"*_KEY\"]}\n");
	expect("executable: /bin/true", "", "only names and NAME*", 1);
}

/* Of root, for whom nothing is out of reach, nothing is asked here. */
static void without_root(void **state)
{
	uid_t before = geteuid();
	size_t errors;
	char *whole;

	(void)state;
	write_policy("version: 1\nname: p\n");
	if (before != 0)
		skip();
	assert_int_equal(mkdir(at("closed"), 0700), 0);
	assert_int_equal(chmod(top, 0755), 0);
	assert_int_equal(seteuid(65534), 0);
	{
		char match[300];

		snprintf(match, sizeof(match), "executable: %s/x", at("closed"));
		whole = said(match, "", &errors);
	}
	assert_int_equal(seteuid(before), 0);
	assert_int_equal(errors, 0);
	assert_non_null(strstr(whole, "note: executor a: not looked at without being root"));
	free(whole);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(entries),
		TEST(itself),
		TEST(policy),
		TEST(without_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
