/* SPDX-License-Identifier: Apache-2.0 */
/* What a shipper's state file says, whatever it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/privsep/shipped.h"

#define LOG_ID "01a2013c-58d6-7f6f-8e64-000000000001"

static char directory[] = "/tmp/cordon-shipped-XXXXXX";
static char path[64], target[64];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/state.json", directory);
	snprintf(target, sizeof(target), "%s/target", directory);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	(void)unlink(path);
	(void)unlink(target);
	return rmdir(directory);
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static struct audit_log_shipped look(void)
{
	struct audit_log_shipped shipped;
	struct shipped_text text;

	memset(&shipped, 0xaa, sizeof(shipped));
	shipped_take(path, &text);
	shipped_read(text.text, text.size, &shipped);
	(void)unlink(path);
	return shipped;
}

static void expect_nothing(void)
{
	struct audit_log_shipped shipped = look();

	assert_true(shipped.known);
	assert_string_equal(shipped.log, "");
	assert_int_equal(shipped.sequence, 0);
}

static void says_how_far(void **state)
{
	struct audit_log_shipped shipped;

	(void)state;
	write_file(path, "{\"log\":\"" LOG_ID "\",\"seq\":1204,\"chain\":null,\"sending\":1300,"
			 "\"first\":1290}");
	shipped = look();
	assert_true(shipped.known);
	assert_string_equal(shipped.log, LOG_ID);
	assert_int_equal(shipped.sequence, 1204);
}

static void nobody(void **state)
{
	(void)state;
	assert_false(look().known);
}

static void says_nothing(void **state)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{",
		"{\"log\":\"" LOG_ID "\"}",
		"{\"log\":\"" LOG_ID "\",\"seq\":-1}",
		"{\"log\":\"../x\",\"seq\":1}",
		"{\"log\":\"" LOG_ID "\",\"seq\":\"9\"}",
	};
	char *large = malloc(5001);

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		write_file(path, texts[i]);
		expect_nothing();
	}
	assert_non_null(large);
	memset(large, ' ', 5000);
	large[5000] = '\0';
	write_file(path, large);
	free(large);
	expect_nothing();
}

/* Whoever owns the directory can have no other file read, and nobody wait. */
static void is_no_file(void **state)
{
	(void)state;
	write_file(target, "{\"log\":\"" LOG_ID "\",\"seq\":1}");
	assert_int_equal(symlink(target, path), 0);
	expect_nothing();
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_nothing();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_how_far),
		cmocka_unit_test(nobody),
		cmocka_unit_test(says_nothing),
		cmocka_unit_test(is_no_file),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
