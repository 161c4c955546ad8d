/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns that this host's links make dead, and directories without what is in them, are told by
 * `check`.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "tests/unit/policy/support.h"

struct place {
	char directory[64], policy[96];
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	char path[128], target[128];

	assert_non_null(p);
	strcpy(p->directory, "/tmp/cordon-paths-XXXXXX");
	assert_non_null(mkdtemp(p->directory));
	snprintf(p->policy, sizeof(p->policy), "%s/p.yaml", p->directory);
	snprintf(path, sizeof(path), "%s/real", p->directory);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/link", p->directory);
	assert_int_equal(symlink("real", path), 0);
	snprintf(path, sizeof(path), "%s/real/sh", p->directory);
	assert_int_equal(symlink("dash", path), 0);
	snprintf(target, sizeof(target), "%s/real/dash", p->directory);
	assert_int_equal(close(open(target, O_CREAT | O_WRONLY, 0700)), 0);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = {"p.yaml", "link", "real/sh", "real/dash"};
	struct place *p = *state;
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", p->directory, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/real", p->directory);
	rmdir(path);
	rmdir(p->directory);
	free(p);
	return 0;
}

/* What is said of rules in which @ stands for the directory. */
static char *check(const struct place *p, const char *rules, bool host)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	FILE *out = fopen(p->policy, "w");

	assert_non_null(out);
	fputs("version: 1\n", out);
	for (const char *at = rules; *at; at++) {
		if (*at == '@')
			fputs(p->directory, out);
		else
			fputc(*at, out);
	}
	fclose(out);
	assert_int_equal((host ? policy_check_host : policy_check)(p->policy, NULL, d, &policy), 0);
	return diagnostics_format(d, 0);
}

static void test_told(void **state)
{
	static const struct {
		const char *rules, *says;
	} cases[] = {
		{"files: [{deny: [read], paths: ['@/link/**']}]\n", "nothing is called"},
		{"files: [{deny: [read], paths: ['@/{x,link}/a']}]\n", "/real/a\": rules know"},
		{"exec: [{allow: [run], paths: ['@/link/sh']}]\n", "/real/dash\": rules know"},
		{"exec: [{allow: [run], paths: ['@/real/sh']}]\n",
		 "the kernel does not use the name"},
		{"files: [{allow: [read], paths: ['@/real']}]\n", "does not cover its contents"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *text = check(*state, cases[i].rules, true);
		_cleanup_(freep) char *plain = check(*state, cases[i].rules, false);

		if (!strstr(text, cases[i].says))
			fail_msg("no \"%s\" in: %s", cases[i].says, text);
		/* What is compiled does not depend on the host. */
		assert_string_equal(plain, "");
	}
}

static void test_fine(void **state)
{
	static const char *const cases[] = {
		"files: [{deny: [read], paths: ['@/link/**', '@/real/**']}]\n",
		"exec: [{allow: [run], paths: ['@/link/sh', '@/real/{sh,dash}']}]\n",
		"files: [{allow: [read], paths: ['@/real', '@/real/**']}]\n",
		"files: [{allow: [read], paths: ['@/real/', '@/real/.']}]\n",
		/* A deny reaches what is below. */
		"files: [{deny: [all], paths: ['@/real']}]\n",
		"files: [{deny: [all], paths: ['@/real', '@/link/dash']}]\n",
		/* A link is deleted by its own name. */
		"files: [{allow: [delete], paths: ['@/real/sh']}]\n",
		"files: [{allow: [read], paths: ['@/nothing/here', '/proc/self/**']}]\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *text = check(*state, cases[i], true);

		assert_string_equal(text, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fine, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
