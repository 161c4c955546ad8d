// SPDX-License-Identifier: Apache-2.0
/*
 * What the programs read is looked for in the types of every kernel at hand, and in altered ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>
#include <errno.h>

#include "base/failure.h"
#include "enforce.skel.h"
#include "kernel/hooks.h"
#include "kernel/layout.h"
#include "tests/unit/kernel/kernel_types.h"

#define LEAST_FIELDS 100
#define WORD_BITS    64

static int check(const struct btf *types, struct failure *failure)
{
	size_t size;
	const void *image = enforce_bpf__elf_bytes(&size);

	*failure = (struct failure){};
	return layout_check(image, size, types, failure);
}

static void test_kernels(void **state)
{
	static const char *const kernels[] = {"6.1", "6.12", "newest"};
	struct failure failure;

	(void)state;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		struct btf *types = read_types(kernels[i]);

		if (check(types, &failure) < LEAST_FIELDS)
			fail_msg("%s: %s", kernels[i], failure.text);
		btf__free(types);
	}
}

/* The types are this process's own copy. */
static struct btf_type *type_of(struct btf *types, const char *name)
{
	int id = btf__find_by_name_kind(types, name, BTF_KIND_STRUCT);

	assert_true(id > 0);
	return (struct btf_type *)(uintptr_t)btf__type_by_id(types, (__u32)id);
}

static struct btf_member *member_of(struct btf *types, const char *type, const char *name)
{
	struct btf_type *t = type_of(types, type);

	for (unsigned int i = 0; i < btf_vlen(t); i++) {
		struct btf_member *member = btf_members(t) + i;

		if (strcmp(btf__name_by_offset(types, member->name_off), name) == 0)
			return member;
	}
	fail_msg("no struct %s.%s", type, name);
	return NULL;
}

static void rename_to_nonsense(struct btf *types, __u32 *name)
{
	int other = btf__add_str(types, "cordon_nonsense");

	assert_true(other > 0);
	*name = (__u32)other;
}

/* Adding a string moves the types, so that it is there before they are looked for. */
static struct btf *alterable(const char *kernel)
{
	struct btf *types = read_types(kernel);

	assert_true(btf__add_str(types, "cordon_nonsense") > 0);
	return types;
}

/* Takes `types`. */
static void expect_refusal(struct btf *types, const char *words)
{
	struct failure failure;

	assert_int_equal(check(types, &failure), -EOPNOTSUPP);
	if (!strstr(failure.text, words))
		fail_msg("\"%s\" lacks \"%s\"", failure.text, words);
	btf__free(types);
}

static void test_gone(void **state)
{
	struct btf *types = alterable("6.12");

	(void)state;
	rename_to_nonsense(types, &member_of(types, "mount", "mnt_parent")->name_off);
	expect_refusal(types, "no struct mount.mnt_parent");

	types = alterable("6.12");
	rename_to_nonsense(types, &type_of(types, "proc_inode")->name_off);
	expect_refusal(types, "no struct proc_inode.");
}

static void test_moved(void **state)
{
	struct btf *types = alterable("6.12");
	struct failure failure;

	(void)state;
	/* A program finds it where it is. */
	member_of(types, "dentry", "d_parent")->offset += WORD_BITS;
	assert_true(check(types, &failure) >= LEAST_FIELDS);
	btf__free(types);
	/* Except for what stands for anything that begins with a number. */
	types = alterable("6.12");
	member_of(types, "timespec64", "tv_sec")->offset += WORD_BITS;
	expect_refusal(types, "struct timespec64.tv_sec as something else");
}

static void test_retyped(void **state)
{
	struct btf *types = alterable("6.12");

	(void)state;
	/*
	 * Another struct, a narrower number, a pointer to another struct: libbpf would take them.
	 */
	member_of(types, "super_block", "s_mounts")->type =
		(__u32)btf__find_by_name_kind(types, "hlist_head", BTF_KIND_STRUCT);
	expect_refusal(types, "struct super_block.s_mounts as something else");

	types = alterable("6.12");
	member_of(types, "inode", "i_ino")->type =
		(__u32)btf__find_by_name_kind(types, "unsigned int", BTF_KIND_INT);
	expect_refusal(types, "struct inode.i_ino as something else");

	types = alterable("newest");
	member_of(types, "super_block", "s_mounts")->type =
		member_of(types, "mount", "mnt_mountpoint")->type;
	expect_refusal(types, "struct super_block.s_mounts as something else");

	/* And what it would not take, it would not find. */
	types = alterable("6.12");
	member_of(types, "mount", "mnt_ns")->type =
		(__u32)btf__find_by_name_kind(types, "unsigned int", BTF_KIND_INT);
	expect_refusal(types, "no struct mount.mnt_ns, or something else");
}

static void test_no_variant(void **state)
{
	struct btf *types = alterable("6.12");

	(void)state;
	rename_to_nonsense(types, &member_of(types, "mount", "mnt_instance")->name_off);
	expect_refusal(types, "lays out \"mounts\" in no way");

	types = alterable("newest");
	rename_to_nonsense(types, &member_of(types, "mount", "mnt_next_for_sb")->name_off);
	expect_refusal(types, "lays out \"mounts\" in no way");

	types = alterable("newest");
	rename_to_nonsense(types, &member_of(types, "file", "f_owner")->name_off);
	expect_refusal(types, "lays out \"owner\" in no way");
}

/* No kernel at hand has a hook that nobody has thought of. */
static void test_hooks(void **state)
{
	static const char *const kernels[] = {"6.1", "6.12", "newest"};
	char unknown[HOOKS_NAME_SIZE];
	struct failure failure = {};

	(void)state;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		struct btf *types = read_types(kernels[i]);

		if (hooks_count_new(types, unknown) != 0)
			fail_msg("%s has a hook that kernel/hooks.c does not know: %s", kernels[i],
				 unknown);
		if (hooks_check(types, &failure) < 0)
			fail_msg("%s: %s", kernels[i], failure.text);
		btf__free(types);
	}
}

static struct btf_type *prototype_of(struct btf *types, const char *function)
{
	int id = btf__find_by_name_kind(types, function, BTF_KIND_FUNC);

	assert_true(id > 0);
	return (struct btf_type *)(uintptr_t)btf__type_by_id(
		types, btf__type_by_id(types, (__u32)id)->type);
}

static void test_arguments(void **state)
{
	struct btf *types = alterable("6.12");
	char unknown[HOOKS_NAME_SIZE];
	struct failure failure = {};
	struct btf_param *first;

	(void)state;
	first = btf_params(prototype_of(types, "bpf_lsm_capable"));
	first[2].type = first[0].type;
	assert_int_equal(hooks_check(types, &failure), -EOPNOTSUPP);
	assert_non_null(strstr(failure.text, "the hook capable with other arguments"));
	btf__free(types);

	types = btf__new_empty();
	assert_true(btf__add_func(types, "bpf_lsm_cordon_nonsense", BTF_FUNC_STATIC,
				  btf__add_func_proto(types, 0)) > 0);
	assert_int_equal(hooks_count_new(types, unknown), 1);
	assert_string_equal(unknown, "cordon_nonsense");
	btf__free(types);
}

/* The table and the object say the same. */
static void test_programs(void **state)
{
	struct enforce_bpf *skeleton = enforce_bpf__open();
	struct bpf_program *program;

	(void)state;
	assert_non_null(skeleton);
	bpf_object__for_each_program(program, skeleton->obj)
	{
		const char *hook = strchr(bpf_program__section_name(program), '/');

		if (bpf_program__type(program) != BPF_PROG_TYPE_LSM)
			continue;
		if (hooks_has_program(hook + 1) != 1)
			fail_msg("kernel/hooks.c has no arguments of %s", hook + 1);
	}
	enforce_bpf__destroy(skeleton);
}

static void test_no_object(void **state)
{
	struct btf *types = read_types("6.12");
	struct failure failure = {};

	(void)state;
	assert_int_equal(layout_check("nonsense", 8, types, &failure), -EBADMSG);
	btf__free(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),	   cmocka_unit_test(test_gone),
		cmocka_unit_test(test_moved),	   cmocka_unit_test(test_retyped),
		cmocka_unit_test(test_no_variant), cmocka_unit_test(test_no_object),
		cmocka_unit_test(test_hooks),	   cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
