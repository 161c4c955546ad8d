/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a command is to run as. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "launch/identity.h"

static struct launch_identity resolve(const char *text)
{
	struct launch_identity identity;
	struct failure failure = {};

	assert_int_equal(identity_resolve(text, &identity, &failure), 0);
	assert_true(identity.change);
	return identity;
}

static void refuse(const char *text, int error, const char *words)
{
	struct launch_identity identity;
	struct failure failure = {};

	assert_int_equal(identity_resolve(text, &identity, &failure), error);
	assert_non_null(strstr(failure.text, words));
}

static void test_name(void **state)
{
	struct launch_identity id = resolve("nobody");

	(void)state;
	assert_int_equal(id.uid, 65534);
	assert_int_equal(id.gid, 65534);
	assert_int_equal(id.group_count, 1);
	assert_int_equal(id.groups[0], 65534);
	assert_string_equal(id.name, "nobody");
	assert_non_null(id.home);
	identity_release(&id);
}

static void test_number(void **state)
{
	struct launch_identity id = resolve("0");

	(void)state;
	assert_int_equal(id.uid, 0);
	assert_string_equal(id.name, "root");
	identity_release(&id);
}

static void test_group(void **state)
{
	struct launch_identity id = resolve("root:daemon");

	(void)state;
	assert_int_equal(id.gid, 1);
	assert_int_equal(id.group_count, 1);
	assert_int_equal(id.groups[0], 1);
	identity_release(&id);
	id = resolve("54321:12345");
	assert_int_equal(id.uid, 54321);
	assert_int_equal(id.gid, 12345);
	assert_int_equal(id.groups[0], 12345);
	assert_null(id.name);
	identity_release(&id);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("no-such-user", -ENOENT, "no user 'no-such-user'");
	refuse("nobody:no-such-group", -ENOENT, "no group 'no-such-group'");
	refuse("54321", -EINVAL, "54321:GID");
	refuse("", -EINVAL, "not a user");
	refuse(":0", -EINVAL, "not a user");
	refuse("nobody:", -EINVAL, "not a user");
	/* (uid_t)-1 and what wraps around to root. */
	refuse("4294967295:0", -ENOENT, "no user");
	refuse("4294967296:0", -ENOENT, "no user");
	refuse("-1:0", -ENOENT, "no user");
	refuse("nobody:4294967295", -ENOENT, "no group");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
