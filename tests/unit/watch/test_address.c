/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses to listen at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "watch/address.h"

static char directory[] = "/tmp/cordon-address-XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		int result;
	} cases[] = {
		{"127.0.0.1:9783", 0},
		{"127.1.2.3:0", 0},
		{"[::1]:9783", 0},
		{"unix:/run/x.sock", 0},
		{"0.0.0.0:9783", -EPERM},
		{"192.0.2.1:80", -EPERM},
		{"[::]:9783", -EPERM},
		{"[2001:db8::1]:80", -EPERM},
		{"", -EINVAL},
		{":9783", -EINVAL},
		{"127.0.0.1", -EINVAL},
		{"127.0.0.1:", -EINVAL},
		{"127.0.0.1:65536", -EINVAL},
		{"127.0.0.1:-1", -EINVAL},
		{"127.0.0.1:80x", -EINVAL},
		{"localhost:80", -EINVAL},
		{"::1:80", -EINVAL},
		{"[127.0.0.1]:80", -EINVAL},
		{"[::1:80", -EINVAL},
		{"[]:80", -EINVAL},
		{"unix:run", -EINVAL},
		{"unix:", -EINVAL},
		{"127.0.0.1:99999999999999999999", -EINVAL},
	};
	char longest[200] = "unix:/";
	struct address address;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct failure failure = {};

		if (address_parse(cases[i].text, &address, &failure) != cases[i].result)
			fail_msg("%s: not %d: %s", cases[i].text, cases[i].result, failure.text);
		assert_int_equal(failure.text[0] != '\0', cases[i].result < 0);
	}
	memset(longest + strlen(longest), 'x', sizeof(longest) - strlen(longest) - 1);
	assert_int_equal(address_parse(longest, &address, NULL), -EINVAL);
}

/* A socket that nobody listens on is replaced; one in use and any other file are not. */
static void test_unix(void **state)
{
	char text[128], *path = text + strlen("unix:");
	struct address address;
	struct stat status;
	int first, second, file;

	(void)state;
	snprintf(text, sizeof(text), "unix:%s/socket", directory);
	assert_int_equal(address_parse(text, &address, NULL), 0);
	assert_int_equal(address_listen(&address, &first, NULL), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0660);
	assert_int_equal(address_listen(&address, &second, NULL), -EADDRINUSE);
	close(first);
	assert_int_equal(address_listen(&address, &second, NULL), 0);
	close(second);
	assert_int_equal(unlink(path), 0);
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	close(file);
	assert_int_equal(address_listen(&address, &second, NULL), -EEXIST);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISREG(status.st_mode));
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_unix),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
