/* SPDX-License-Identifier: Apache-2.0 */
/* Where policies are looked for. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "policy/source/search.h"
#include "tests/unit/policy/support.h"

static char top[] = "/tmp/cordon-search-XXXXXX";

static void make_directory(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void make_trees(void)
{
	static const char *const names[] = {
		"usr",	  "usr/share", "usr/share/cordon", "usr/share/cordon/policies",
		"source", "source/bpf"};
	char path[256];
	int fd;

	assert_non_null(mkdtemp(top));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		make_directory(names[i]);
	snprintf(path, sizeof(path), "%s/source/bpf/abi.h", top);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
}

/* `policies`: below the top, or NULL where the program brings none. */
static void assert_own(const char *executable, const char *policies)
{
	char program[256], expected[256];
	char **found;
	size_t count = 0;

	snprintf(program, sizeof(program), "%s/%s", top, executable);
	snprintf(expected, sizeof(expected), "%s/%s", top, policies ? policies : "");
	found = policy_search_directories(program);
	assert_non_null(found);
	while (found[count])
		count++;
	if (policies)
		assert_string_equal(found[count - 1], expected);
	else
		assert_null(strstr(found[count - 1], top));
	policy_search_free(found);
}

static void test_own(void **state)
{
	char command[256];

	(void)state;
	make_trees();
	assert_own("usr/bin/cordon", "usr/share/cordon/policies");
	assert_own("usr/lib/cordon/cordon", "usr/share/cordon/policies");
	assert_own("source/build/cordon", "source/policies");
	assert_own("source/build/lib/cordon/cordon", "source/policies");
	assert_own("source/cordon", NULL);
	assert_own("source/build/deeper/cordon", NULL);
	assert_own("source/build/deeper/than/that/cordon", NULL);
	snprintf(command, sizeof(command), "rm -r %s", top);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_own)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
