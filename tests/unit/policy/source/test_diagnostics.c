/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What users are told: the files in bad/ do not compile, those in warned/ do, and each says
 * exactly what stands beside it in NAME.expected: file, line and column, what is wrong, and what to
 * do. The tests run in the top directory. CORDON_UPDATE=1 writes the expectations anew, to be read
 * before they are kept.
 */
#include <dirent.h>
#include <fcntl.h>

#include "base/io.h"
#include "tests/unit/policy/support.h"

/* Every error says where it is and what to do about it. */
static void check_complete(const struct diagnostics *d)
{
	for (size_t i = 0; i < diagnostics_count(d); i++) {
		const struct diagnostic *e = diagnostics_at(d, i);

		if (!e->line || !e->column || !e->hint || !*e->hint)
			fail_msg("%s:%u:%u: %s: no place or no hint", e->file, e->line, e->column,
				 e->message);
	}
}

static char *describe(const char *path, bool complete, int *ret_result)
{
	static const struct policy_search search = {.directories = NULL};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *p = NULL;

	*ret_result = policy_compile(path, &search, d, &p);
	assert_true((*ret_result == 0) == (diagnostics_errors(d) == 0));
	if (complete)
		check_complete(d);
	compiled_policy_free(p);
	return diagnostics_format(d, 0);
}

static void update(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static size_t compare_directory(const char *directory, int good)
{
	_cleanup_(closedirp) DIR *files = opendir(directory);
	const struct dirent *e;
	size_t count = 0;

	assert_non_null(files);
	while ((e = readdir(files))) {
		_cleanup_(freep) char *path = NULL, *expected = NULL, *text = NULL, *got = NULL;
		const char *suffix = strrchr(e->d_name, '.');
		size_t size;
		int result;

		if (!suffix || strcmp(suffix, ".yaml") != 0)
			continue;
		assert_true(asprintf(&path, "%s/%s", directory, e->d_name) > 0);
		assert_true(asprintf(&expected, "%s/%.*s.expected", directory,
				     (int)(suffix - e->d_name), e->d_name) > 0);
		got = describe(path, true, &result);
		if (getenv("CORDON_UPDATE"))
			update(expected, got);
		if (io_read_file(AT_FDCWD, expected, 1 << 20, &text, &size) < 0)
			fail_msg("%s is missing; CORDON_UPDATE=1 writes it", expected);
		if (strcmp(got, text) != 0)
			fail_msg("%s says\n%s\ninstead of\n%s", path, got, text);
		assert_true(*got);
		assert_int_equal(result == 0, good);
		count++;
	}
	return count;
}

static void test_bad_policies(void **state)
{
	(void)state;
	assert_true(compare_directory("tests/unit/policy/bad", 0) >= 167);
}

static void test_warnings(void **state)
{
	(void)state;
	assert_true(compare_directory("tests/unit/policy/warned", 1) >= 6);
}

static void test_unreadable(void **state)
{
	_cleanup_(freep) char *missing = NULL, *directory = NULL, *device = NULL;
	int r;

	(void)state;
	missing = describe("no-such-policy", false, &r);
	assert_int_equal(r, -ENOENT);
	assert_non_null(strstr(missing, "No such file"));
	directory = describe("tests/unit", false, &r);
	assert_int_equal(r, -EISDIR);
	device = describe("/dev/null", false, &r);
	assert_true(r < 0);
	assert_non_null(strstr(device, "not a regular file"));
}

static void test_huge(void **state)
{
	size_t size = (1u << 20) + 1;
	_cleanup_(freep) char *text = malloc(size);
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *p = NULL;

	(void)state;
	memset(text, '#', size);
	assert_int_equal(policy_compile_text(text, size, "x", NULL, d, &p), -E2BIG);
	assert_int_equal(diagnostics_errors(d), 1);
}

/* More errors than are kept: the first ones are shown, the others counted. */
static void test_flood(void **state)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(freep) char *text = NULL, *shown = NULL;
	struct compiled_policy *p = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fputs("version: 1\nfiles:\n", out);
	for (int i = 0; i < 1000; i++)
		fputs("  - {allow: [read], paths: [a]}\n", out);
	fclose(out);
	assert_int_equal(policy_compile_text(text, size, "x", NULL, d, &p), -EINVAL);
	assert_int_equal(diagnostics_errors(d), 1000);
	assert_int_equal(diagnostics_count(d), DIAGNOSTICS_MAX + 1);
	shown = diagnostics_format(d, 0);
	assert_non_null(strstr(shown, "744 more are not shown"));
}

static void test_colour(void **state)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct compiled_policy *p = NULL;
	_cleanup_(freep) char *shown = NULL;

	(void)state;
	assert_int_equal(policy_compile_text("versoin: 1\n", 11, "x", NULL, d, &p), -EINVAL);
	shown = diagnostics_format(d, 1);
	assert_non_null(strstr(shown, "\033[1;31merror:\033[0m"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_policies), cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_unreadable),   cmocka_unit_test(test_huge),
		cmocka_unit_test(test_flood),	     cmocka_unit_test(test_colour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
