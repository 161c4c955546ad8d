// SPDX-License-Identifier: Apache-2.0
/* Addresses that are told, and hidden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "kernel/symbols.h"

static int check(const char *text, struct failure *failure)
{
	char path[] = "/tmp/cordon-unit-symbols-XXXXXX";
	int fd = mkstemp(path), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	failure->text[0] = '\0';
	r = symbols_check(path, failure);
	unlink(path);
	return r;
}

static void test_symbols(void **state)
{
	struct failure failure = {};

	(void)state;
	assert_int_equal(check("0000000000000000 D __per_cpu_start\nnonsense\n"
			       "0000000000001000 D cpu_debug_store\t[module]\n",
			       &failure),
			 0);
	assert_int_equal(check("0000000000000000 D rename_lock\n0000000000000000 D mount_lock\n",
			       &failure),
			 -EPERM);
	assert_non_null(strstr(failure.text, "kptr_restrict"));
	assert_int_equal(check("", &failure), -EPERM);
	assert_int_equal(symbols_check("/nonexistent", &failure), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_symbols)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
