/* SPDX-License-Identifier: Apache-2.0 */
/* How fragments join: order, each once, where they are looked for, whose word counts. */
#include "policy/source/settings.h"
#include "tests/unit/policy/support.h"

#define DIRECTORY "tests/unit/policy/include/"

static const char *const directories[] = {DIRECTORY "search", DIRECTORY, NULL};
static const struct policy_search search = {.directories = directories};

static struct compiled_policy *compile(const char *name)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *p = NULL;
	int r = policy_compile(name, &search, d, &p);

	if (r < 0) {
		_cleanup_(freep) char *why = diagnostics_format(d, 0);

		fail_msg("%s", why);
	}
	return p;
}

static const char *value_of(const struct compiled_policy *p, const char *name)
{
	for (size_t i = 0; p->environment.set_names[i]; i++)
		if (strcmp(p->environment.set_names[i], name) == 0)
			return p->environment.set_values[i];
	return NULL;
}

static int keeps(const struct compiled_policy *p, const char *name)
{
	for (size_t i = 0; p->environment.keep[i]; i++)
		if (strcmp(p->environment.keep[i], name) == 0)
			return 1;
	return 0;
}

static void test_rules_in_order(void **state)
{
	static const struct {
		const char *file;
		unsigned int line;
		const char *text;
	} expected[] = {
		{"first.yaml", 4, "allow read /first-rule"},
		{"beside.yaml", 4, "allow read /beside-rule"},
		{"shared.yaml", 4, "allow read /shared-rule"},
		{"sub/second.yaml", 5, "allow connect over tcp to any"},
		{"sub/second.yaml", 7, "allow read ${data}/x"},
		{DIRECTORY "root.yaml", 5, "allow read /root-rule"},
	};
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile(DIRECTORY "root.yaml");

	(void)state;
	assert_int_equal(p->rule_count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_string_equal(p->rules[i].file, expected[i].file);
		assert_int_equal(p->rules[i].line, expected[i].line);
		assert_string_equal(p->rules[i].text, expected[i].text);
	}
	assert_true(granted(p, CORDON_START_PATH, "/shared-rule", CORDON_READ));
	assert_true(granted(p, CORDON_START_ANCHOR + CORDON_ANCHOR_USER, "/x", CORDON_READ));
}

static void test_environment(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile(DIRECTORY "root.yaml");
	_cleanup_(compiled_policy_freep) struct compiled_policy *q = compile("no-keep");

	(void)state;
	assert_string_equal(value_of(p, "SHARED"), "root");
	assert_string_equal(value_of(p, "FIRST"), "first");
	assert_string_equal(value_of(p, "OWN"), "root");
	assert_true(keeps(p, "ROOT"));
	assert_true(keeps(p, "FIRST"));
	assert_false(keeps(p, "PATH"));
	/* A fragment's list does not replace the default. */
	assert_true(keeps(q, "FIRST"));
	assert_true(keeps(q, "PATH"));
}

static void test_names(void **state)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *named = compile("no-keep");
	_cleanup_(compiled_policy_freep) struct compiled_policy *fragment = NULL;
	struct compiled_policy *none = NULL;

	(void)state;
	assert_string_equal(named->name, "no-keep");
	assert_int_equal(policy_compile("first", &search, d, &none), -EINVAL);
	assert_int_equal(policy_check("first", &search, d, &fragment), 0);
	assert_int_equal(policy_compile("missing", &search, d, &none), -ENOENT);
	assert_null(none);
	/*
	 * Whoever mistypes a name is told which there are, in all directories, fragments below them
	 * apart.
	 */
	assert_string_equal(diagnostics_at(d, diagnostics_count(d) - 1)->hint,
			    "give a path, or one of first, no-keep, root, shared in " DIRECTORY
			    "search, " DIRECTORY);
	assert_int_equal(policy_compile("no-kep", &search, d, &none), -ENOENT);
	assert_non_null(strstr(diagnostics_at(d, diagnostics_count(d) - 1)->hint,
			       "did you mean \"no-keep\"?"));
}

static struct compiled_policy *compile_text(const char *text, struct diagnostics *d)
{
	struct compiled_policy *p = NULL;

	(void)policy_compile_text(text, strlen(text), "/x/more.yaml", &search, d, &p);
	return p;
}

/* All that the amended one says counts, and its name; the rules are both files'. */
static void test_amends(void **state)
{
	static const char text[] = "version: 1\nname: other\namends: root\n"
				   "files:\n  - {allow: [write], paths: [/more]}\n";
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *root = compile("root");
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_text(text, d);

	(void)state;
	assert_non_null(p);
	assert_string_equal(p->name, root->name);
	assert_string_equal(p->file, "/x/more.yaml");
	assert_memory_equal(&p->limits, &root->limits, sizeof(p->limits));
	assert_string_equal(value_of(p, "OWN"), "root");
	assert_int_equal(p->rule_count, root->rule_count + 1);
	assert_true(granted(p, CORDON_START_PATH, "/more", CORDON_WRITE));
	assert_true(granted(p, CORDON_START_PATH, "/root-rule", CORDON_READ));
	assert_false(granted(root, CORDON_START_PATH, "/more", CORDON_WRITE));
}

/* What widens no more than the execution's own: settings that `policy diff` shows. */
static void test_amends_settings(void **state)
{
	static const char text[] = "version: 1\namends: root\nlimits: {memory: 7G}\n"
				   "process: {temporary: own}\n";
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *root = compile("root");
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_text(text, d);
	size_t wider = 0;

	(void)state;
	assert_non_null(p);
	assert_int_equal(p->limits.memory_bytes, 7ull << 30);
	assert_int_equal(p->limits.wall_nsec, root->limits.wall_nsec);
	for (size_t i = 0; setting_name(i); i++)
		wider += strcmp(setting_name(i), "process.temporary") == 0 &&
			 setting_compare(root, p, i) == SETTING_WIDER;
	assert_int_equal(wider, 1);
}

static void test_amends_nothing_else(void **state)
{
	static const char *const bad[] = {
		"version: 1\namends: missing\n",
		"version: 1\namends: first\n",
		"version: 1\namends: [root]\n",
		"version: 1\namends: root\nprocess: {trace: own}\n",
		"version: 1\namends: root\nprocess: {temporary: own, special: allow}\n",
		"version: 1\namends: root\naudit: {opens: all}\n",
		"version: 1\namends: root\nmode: observe\n",
		"version: 1\namends: root\nrun_by: [alice]\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();

		assert_null(compile_text(bad[i], d));
		assert_true(diagnostics_errors(d) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_in_order),	cmocka_unit_test(test_environment),
		cmocka_unit_test(test_names),		cmocka_unit_test(test_amends),
		cmocka_unit_test(test_amends_settings), cmocka_unit_test(test_amends_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
