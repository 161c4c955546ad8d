// SPDX-License-Identifier: Apache-2.0
/* Which hooks a kernel must have, told from types that are made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "kernel/loader.h"

#define MOST_HOOKS 200

static void add_function(struct btf *types, const char *name, int arguments)
{
	int number = btf__find_by_name_kind(types, "int", BTF_KIND_INT), prototype;

	if (number < 0)
		number = btf__add_int(types, "int", 4, BTF_INT_SIGNED);
	prototype = btf__add_func_proto(types, number);
	for (int i = 0; i < arguments; i++)
		assert_int_equal(btf__add_func_param(types, "argument", number), 0);
	assert_true(btf__add_func(types, name, BTF_FUNC_STATIC, prototype) > 0);
}

/* Whatever is missed, until nothing is. */
static void add_hooks(struct btf *types)
{
	char missing[LOADER_HOOK_SIZE];

	for (int i = 0; i < MOST_HOOKS; i++) {
		assert_true(loader_check_hooks(types, missing) > 0);
		if (!missing[0])
			return;
		add_function(types, missing, 3);
	}
	fail_msg("%s is always missing", missing);
}

static void test_missing(void **state)
{
	struct btf *types = btf__new_empty();
	char missing[LOADER_HOOK_SIZE];

	(void)state;
	assert_true(loader_check_hooks(types, missing) > 50);
	assert_int_equal(strncmp(missing, "bpf_lsm_", 8), 0);
	add_hooks(types);
	assert_true(btf__find_by_name_kind(types, "bpf_lsm_file_permission", BTF_KIND_FUNC) > 0);
	assert_true(btf__find_by_name_kind(types, "bpf_lsm_socket_getsockopt", BTF_KIND_FUNC) > 0);
	btf__free(types);
}

/* There, but with arguments that no program knows: as good as missing. */
static void test_strange_arguments(void **state)
{
	struct btf *types = btf__new_empty();
	char missing[LOADER_HOOK_SIZE];

	(void)state;
	add_hooks(types);
	add_function(types, "bpf_lsm_perf_event_open", 1);
	add_function(types, "bpf_lsm_inode_setattr", 3);
	loader_check_hooks(types, missing);
	assert_string_equal(missing, "");
	add_function(types, "bpf_lsm_inode_set_acl", 7);
	loader_check_hooks(types, missing);
	assert_string_equal(missing, "");
	btf__free(types);

	types = btf__new_empty();
	add_hooks(types);
	add_function(types, "bpf_lsm_perf_event_open", 5);
	loader_check_hooks(types, missing);
	assert_string_equal(missing, "bpf_lsm_perf_event_open");
	btf__free(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_strange_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
