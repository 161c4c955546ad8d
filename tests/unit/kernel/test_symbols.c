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

static int find(const char *text, struct symbol symbols[2], struct failure *failure)
{
	char path[] = "/tmp/cordon-unit-symbols-XXXXXX";
	int fd = mkstemp(path), r;

	symbols[0] = (struct symbol){.name = "rename_lock"};
	symbols[1] = (struct symbol){.name = "mount_lock"};
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	failure->text[0] = '\0';
	r = symbols_find(path, symbols, 2, failure);
	unlink(path);
	return r;
}

static void test_addresses(void **state)
{
	struct failure failure = {};
	struct symbol symbols[2];

	(void)state;
	assert_int_equal(find("0000000000000000 D __per_cpu_start\n"
			      "ffffffff82a01000 d old_rename_lock\nnonsense\n"
			      "ffffffff82a01040 D mount_lock\n"
			      "ffffffff82a01050 D rename_lock_of\n"
			      "ffffffff82a01080 D rename_lock\n"
			      "ffffffffc0000000 d rename_lock\t[module]\n",
			      symbols, &failure),
			 0);
	assert_int_equal(symbols[0].address, 0xffffffff82a01080);
	assert_int_equal(symbols[1].address, 0xffffffff82a01040);
	/* The last line without its end. */
	assert_int_equal(find("1000 D mount_lock\n2000 D rename_lock", symbols, &failure), 0);
	assert_int_equal(symbols[0].address, 0x2000);
	assert_int_equal(find("0000 D rename_lock\n0000 D mount_lock\n", symbols, &failure),
			 -EPERM);
	assert_non_null(strstr(failure.text, "kptr_restrict"));
	assert_int_equal(find("1000 D rename_lock\n", symbols, &failure), -ENOENT);
	assert_non_null(strstr(failure.text, "mount_lock"));
	assert_int_equal(symbols_find("/nonexistent", symbols, 2, &failure), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_symbols),
					   cmocka_unit_test(test_addresses)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
