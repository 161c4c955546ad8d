/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every policy that is shipped has a table of accesses, and gives the verdicts in it. What the
 * documentation shows as a policy is one.
 */
#include <dirent.h>
#include <fcntl.h>

#include "base/io.h"
#include "policy/ask/table_test.h"
#include "support.h"

static const char *const directories[] = {"policies", NULL};
static const struct policy_search search = {.directories = directories};

static struct table_result run_table(const char *path)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct table_result t = {0};
	int r = table_test_run(path, &search, d, &t);

	if (r < 0 || t.failed) {
		_cleanup_(freep) char *why = diagnostics_format(d, 0);

		fail_msg("%s: %d\n%s", path, r, why);
	}
	return t;
}

static void test_tables(void **state)
{
	_cleanup_(closedirp) DIR *files = opendir("policies");
	const struct dirent *e;
	size_t count = 0;

	(void)state;
	assert_non_null(files);
	while ((e = readdir(files))) {
		const char *suffix = strrchr(e->d_name, '.');
		char path[300];
		struct table_result t;

		if (!suffix || strcmp(suffix, ".yaml") != 0)
			continue;
		snprintf(path, sizeof(path), "policies/tests/%s", e->d_name);
		t = run_table(path);
		assert_true(t.passed >= 5);
		count++;
	}
	assert_true(count >= 3);
}

/*
 * All fragments at once are two pages of tables at most. Tables of more than one page are matched
 * by a search for each byte's page, in twice the instructions.
 */
static void test_two_pages(void **state)
{
	_cleanup_(closedirp) DIR *files = opendir("policies/runtime");
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	const struct dirent *e;
	char text[2000];
	int at = snprintf(text, sizeof(text),
			  "version: 1\nname: all\nvariables: [venv]\ninclude: [");

	(void)state;
	assert_non_null(files);
	while ((e = readdir(files))) {
		const char *suffix = strrchr(e->d_name, '.');

		if (suffix && strcmp(suffix, ".yaml") == 0)
			at += snprintf(text + at, sizeof(text) - (size_t)at, "runtime/%.*s, ",
				       (int)(suffix - e->d_name), e->d_name);
	}
	at += snprintf(text + at, sizeof(text) - (size_t)at, "]\n");
	assert_true((size_t)at < sizeof(text));
	assert_int_equal(policy_compile_text(text, (size_t)at, "all.yaml", &search, d, &p), 0);
	assert_true(p->rule_count > 40);
	assert_true(p->tables_size <= 2 * CORDON_PAGE_SIZE);
}

/* Each for itself, as `policy check` takes one, and without a word about it. */
static void test_fragments(void **state)
{
	_cleanup_(closedirp) DIR *files = opendir("policies/runtime");
	const struct dirent *e;
	size_t count = 0;

	(void)state;
	assert_non_null(files);
	while ((e = readdir(files))) {
		_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
		_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
		char path[300];

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "policies/runtime/%s", e->d_name);
		if (policy_check(path, &search, d, &p) < 0 || diagnostics_count(d)) {
			_cleanup_(freep) char *why = diagnostics_format(d, 0);

			fail_msg("%s:\n%s", path, why);
		}
		assert_true(compiled_policy_states(p) < 5000);
		count++;
	}
	assert_true(count >= 10);
}

static void check_table(const char *text, int result, size_t failed, const char *message)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(freep) char *shown = NULL;
	char path[] = "/tmp/cordon-table-XXXXXX";
	struct table_result t = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(table_test_run(path, &search, d, &t), result);
	unlink(path);
	assert_int_equal(t.failed, failed);
	shown = diagnostics_format(d, 0);
	if (!strstr(shown, message))
		fail_msg("%s\nsays %s\nnot %s", text, shown, message);
}

static void test_failures(void **state)
{
	(void)state;
	check_table(
		"policy: python-sandbox\ntests:\n  - {read: [/root/x, /usr/lib/x], verdict: deny}\n",
		0, 1, "3:22: error: read /usr/lib/x is allowed by runtime/linux.yaml:");
	check_table("policy: python-sandbox\ntests:\n  - {read: [/root/x], verdict: allow}\n", 0, 1,
		    "read /root/x is denied by no rule, expected allow");
	check_table(
		"policy: python-sandbox\ntests:\n  - {read: [/etc/shadow], verdict: deny, rule: nowhere}\n",
		0, 1, "expected deny by nowhere");
	check_table("policy: no-such\ntests:\n  - {read: [/x], verdict: deny}\n", -EINVAL, 0,
		    "python-sandbox");
	check_table("policy: observe\ntests:\n  - {raed: [/x], verdict: deny}\n", -EINVAL, 0,
		    "did you mean \"read\"?");
	check_table("policy: observe\ntests:\n  - {read: [x], verdict: deny}\n", -EINVAL, 0,
		    "no resolved name");
	check_table("policy: observe\ntests:\n  - {connect: [x], verdict: deny}\n", -EINVAL, 0,
		    "no name with a port");
	check_table("policy: observe\ntests:\n  - {read: [/x/../y], verdict: deny}\n", -EINVAL, 0,
		    "no resolved name");
	check_table("policy: observe\ntests:\n  - {read: [/x]}\n", -EINVAL, 0,
		    "expects no verdict");
	check_table(
		"policy: observe\nvariables: {x: /y}\ntests:\n  - {read: [/x], verdict: deny}\n",
		-EINVAL, 0, "no variable \"x\"");
	check_table("policy: observe\n", -EINVAL, 0, "no tests");
	check_table("tests: []\n", -EINVAL, 0, "names no policy");
	check_table("", -EINVAL, 0, "empty");
}

static void check_example(const char *text, size_t size)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	int r = policy_compile_text(text, size, "docs/policies.md", &search, d, &p);

	if (r < 0 || diagnostics_count(d)) {
		_cleanup_(freep) char *why = diagnostics_format(d, 0);

		fail_msg("%.*s\n%s", (int)size, text, why);
	}
}

static void test_documentation(void **state)
{
	static const char fence[] = "```yaml\n";
	_cleanup_(freep) char *text = NULL;
	size_t count = 0, size;
	const char *at, *end;

	(void)state;
	assert_int_equal(io_read_file(AT_FDCWD, "docs/policies.md", 1 << 20, &text, &size), 0);
	for (at = strstr(text, fence); at; at = strstr(end, fence)) {
		at += strlen(fence);
		end = strstr(at, "```");
		assert_non_null(end);
		if (strncmp(at, "version: 1\n", 11) != 0)
			continue;
		check_example(at, (size_t)(end - at));
		count++;
	}
	assert_true(count >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documentation), cmocka_unit_test(test_two_pages),
		cmocka_unit_test(test_tables),	      cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
