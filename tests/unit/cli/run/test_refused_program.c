/* SPDX-License-Identifier: Apache-2.0 */
/* Why a program did not run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/run/refused_program.h"

static void check(const char *program, const char *path, const char *expected)
{
	_cleanup_(freep) char *text = refused_program_text(program, path);

	assert_non_null(text);
	assert_string_equal(text, expected);
}

static void make_program(const char *path)
{
	int fd = creat(path, 0755);

	assert_true(fd >= 0);
	close(fd);
}

static void test_texts(void **state)
{
	char top[] = "/tmp/cordon-refused-XXXXXX", shims[64], shim[80], link[64], expected[512];

	(void)state;
	assert_non_null(mkdtemp(top));
	snprintf(shims, sizeof(shims), "%s/shims", top);
	snprintf(shim, sizeof(shim), "%s/python3", shims);
	snprintf(link, sizeof(link), "%s/tool", top);
	assert_int_equal(mkdir(shims, 0755), 0);
	make_program(shim);
	assert_int_equal(symlink(shim, link), 0);
	snprintf(
		expected, sizeof(expected),
		"%s: Permission denied; no other program of that name is tried; it is a shim: name "
		"the program that it would start, as `pyenv which` tells",
		shim);
	check("python3", shims, expected);
	snprintf(expected, sizeof(expected), "%s (%s): Permission denied", link, shim);
	check(link, "/usr/bin", expected);
	/* Whatever it is, it is named. */
	check("./none", NULL, "./none: Permission denied");
	check("none", NULL, "none: Permission denied");
	assert_int_equal(unlink(link) | unlink(shim) | rmdir(shims) | rmdir(top), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
