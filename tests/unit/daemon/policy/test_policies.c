/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that are taken over: each is there once, and by its own names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/policy/policies.h"

#define FILE_OF "policies/python-sandbox.yaml"
#define REF	7u

static struct compiled_policy *compile(struct policies *policies)
{
	struct compiled_policy *compiled = NULL;

	assert_int_equal(policies_compile(policies, FILE_OF, false, &compiled), 0);
	return compiled;
}

static void test_resumed(void **state)
{
	const char *const directories[] = {"policies", NULL};
	const struct policy_use *use = NULL, *second = NULL;
	unsigned char digest[32];
	struct policies *policies = NULL;
	struct compiled_policy *compiled;
	char *name, *file;

	(void)state;
	assert_int_equal(policies_new(NULL, directories, -1, &policies), 0);
	compiled = compile(policies);
	memcpy(digest, compiled->digest, sizeof(digest));
	name = strdup(compiled->name);
	file = strdup(compiled->file);
	assert_null(policies_resumed(policies, REF, digest, name, file));
	assert_int_equal(policies_resume(policies, compiled, REF, &use), 0);
	assert_ptr_equal(policies_resumed(policies, REF, digest, name, file), use);
	assert_int_equal(policies_count(policies), 1);
	/* Another's reference, tables or names are not this one's. */
	assert_null(policies_resumed(policies, REF + 1, digest, name, file));
	assert_null(policies_resumed(policies, REF, digest, "other", file));
	assert_null(policies_resumed(policies, REF, digest, name, "other"));
	digest[0] ^= 1;
	assert_null(policies_resumed(policies, REF, digest, name, file));
	/* As one that has to compile it: what is there is kept. */
	assert_int_equal(policies_resume(policies, compile(policies), REF, &second), 0);
	assert_ptr_equal(second, use);
	/* Two of three users go: it stays. */
	policies_put(policies, use);
	policies_put(policies, use);
	digest[0] ^= 1;
	assert_ptr_equal(policies_resumed(policies, REF, digest, name, file), use);
	/* In use, so that nothing is asked of the kernel. */
	policies_free(policies);
	free(name);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resumed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
