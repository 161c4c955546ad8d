/* SPDX-License-Identifier: Apache-2.0 */
/* Which policies are known to be kept, when there are more than can be remembered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "daemon/privsep/kept_policies.h"

static const unsigned char *digest(unsigned int number)
{
	static unsigned char bytes[SHA256_SIZE];

	memcpy(bytes + 7, &number, sizeof(number));
	return bytes;
}

static void test_remembered(void **state)
{
	struct kept_policies kept = {};

	(void)state;
	assert_false(kept_policies_has(&kept, digest(0)));
	kept_policies_add(&kept, digest(0));
	kept_policies_add(&kept, digest(0));
	assert_int_equal(kept.count, 1);
	assert_true(kept_policies_has(&kept, digest(0)));
	assert_false(kept_policies_has(&kept, digest(1)));
	kept_policies_release(&kept);
	assert_false(kept_policies_has(&kept, digest(0)));
}

/* The oldest makes room: it is looked for anew. */
static void test_too_many(void **state)
{
	struct kept_policies kept = {};

	(void)state;
	for (unsigned int i = 0; i < KEPT_POLICIES_MAX + 2; i++)
		kept_policies_add(&kept, digest(i));
	assert_int_equal(kept.count, KEPT_POLICIES_MAX);
	assert_false(kept_policies_has(&kept, digest(0)));
	assert_false(kept_policies_has(&kept, digest(1)));
	for (unsigned int i = 2; i < KEPT_POLICIES_MAX + 2; i++)
		assert_true(kept_policies_has(&kept, digest(i)));
	kept_policies_release(&kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remembered),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
