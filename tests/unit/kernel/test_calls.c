// SPDX-License-Identifier: Apache-2.0
/*
 * The table of calls contains each name that the tested kernels, libseccomp and this host's headers
 * have, its hooks have programs, and docs/reference/system-calls.md equals it. CORDON_UPDATE=1
 * writes that page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>
#include <ctype.h>
#include <linux/fcntl.h>
#include <seccomp.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/newer_calls.h"
#include "enforce.skel.h"
#include "kernel/calls.h"
#include "kernel/hooks.h"
#include "tests/unit/kernel/kernel_types.h"

#define PAGE	     "docs/reference/system-calls.md"
#define MOST_NAMES   1024
#define MOST_NUMBERS 1024

static void test_kernels(void **state)
{
	static const char *const kernels[] = {"6.1", "6.12", "newest"};
	char unknown[CALLS_NAME_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		struct btf *types = read_types(kernels[i]);

		assert_true(btf__find_by_name_kind(types, "__x64_sys_openat", BTF_KIND_FUNC) > 0);
		assert_true(btf__find_by_name_kind(types, "__do_sys_getpid", BTF_KIND_FUNC) > 0);
		assert_true(btf__find_by_name_kind(types, "io_uring_op", BTF_KIND_ENUM) > 0);
		/* The older ones have no name for what rings register. */
		if (i > 0)
			assert_true(btf__find_by_name_kind(types, "io_uring_register_op",
							   BTF_KIND_ENUM) > 0);
		for (enum calls_kind kind = CALLS_SYSTEM; kind <= CALLS_RING_REGISTER; kind++)
			if (calls_count_new(types, kind, unknown) != 0)
				fail_msg("%s has one that kernel/calls.c does not know: %s",
					 kernels[i], unknown);
		btf__free(types);
	}
}

static void add_function(struct btf *types, const char *name)
{
	assert_true(btf__add_func(types, name, BTF_FUNC_STATIC, btf__add_func_proto(types, 0)) > 0);
}

static void test_new(void **state)
{
	struct btf *types = btf__new_empty();
	char unknown[CALLS_NAME_SIZE];

	(void)state;
	assert_int_equal(calls_count_new(types, CALLS_SYSTEM, unknown), 0);
	assert_string_equal(unknown, "");
	assert_int_equal(calls_count_new(types, CALLS_RING, unknown), 0);
	add_function(types, "__x64_sys_openat");
	add_function(types, "__x64_sys_nonsense");
	add_function(types, "__ia32_sys_nonsense");
	add_function(types, "__do_sys_nonsense");
	add_function(types, "__arm64_sys_folly");
	add_function(types, "__do_sys_mischief");
	add_function(types, "unrelated");
	assert_int_equal(calls_count_new(types, CALLS_SYSTEM, unknown), 3);
	assert_string_equal(unknown, "nonsense");

	assert_true(btf__add_enum(types, "io_uring_op", 4) > 0);
	assert_int_equal(btf__add_enum_value(types, "IORING_OP_NOP", 0), 0);
	assert_int_equal(btf__add_enum_value(types, "IORING_OP_FOLLY", 1), 0);
	assert_int_equal(btf__add_enum_value(types, "IORING_OP_LAST", 2), 0);
	assert_int_equal(calls_count_new(types, CALLS_RING, unknown), 1);
	assert_string_equal(unknown, "IORING_OP_FOLLY");
	assert_int_equal(calls_count_new(types, CALLS_RING_REGISTER, unknown), 0);
	btf__free(types);
}

/* Nothing but whole names is found. */
static void test_find(void **state)
{
	(void)state;
	assert_non_null(calls_find(CALLS_SYSTEM, "open"));
	assert_non_null(calls_find(CALLS_SYSTEM, "creat"));
	assert_null(calls_find(CALLS_SYSTEM, "crea"));
	assert_null(calls_find(CALLS_SYSTEM, "reat"));
	assert_null(calls_find(CALLS_SYSTEM, ""));
	assert_null(calls_find(CALLS_RING, "open"));
}

/* Besides hooks of LSM, those functions that programs are attached to. */
static bool has_program(const struct enforce_bpf *skeleton, const char *hook)
{
	struct bpf_program *program;

	if (hooks_has_program(hook) == 1)
		return true;
	bpf_object__for_each_program(program, skeleton->obj)
	{
		const char *section = strchr(bpf_program__section_name(program), '/');

		if (section && strcmp(section + 1, hook) == 0)
			return true;
	}
	return false;
}

static void check_hooks(const struct enforce_bpf *skeleton, const struct calls_row *row)
{
	_cleanup_(freep) char *hooks = row->hooks ? strdup(row->hooks) : NULL;
	char *rest = NULL;

	for (char *hook = hooks ? strtok_r(hooks, " ", &rest) : NULL; hook;
	     hook = strtok_r(NULL, " ", &rest))
		if (!has_program(skeleton, hook))
			fail_msg("%s: no program judges by %s", row->names, hook);
}

static void test_rows(void **state)
{
	struct enforce_bpf *skeleton = enforce_bpf__open();
	const struct calls_row *rows;
	size_t count, names = 0;

	(void)state;
	assert_non_null(skeleton);
	rows = calls_rows(&count);
	for (size_t i = 0; i < count; i++) {
		_cleanup_(freep) char *list = strdup(rows[i].names);
		char *rest = NULL;

		if (!rows[i].hooks && !rows[i].why)
			fail_msg("%s: neither judged nor harmless", rows[i].names);
		check_hooks(skeleton, &rows[i]);
		for (char *name = strtok_r(list, " ", &rest); name;
		     name = strtok_r(NULL, " ", &rest), names++) {
			char *number = strchr(name, '=');

			if ((number != NULL) != (rows[i].kind >= CALLS_PRCTL))
				fail_msg("%s: by name and number or by name", name);
			if (number)
				*number = '\0';
			if (calls_find(rows[i].kind, name) != &rows[i])
				fail_msg("%s stands in two rows", name);
		}
	}
	assert_true(names > 600);
	enforce_bpf__destroy(skeleton);
}

/* By number, on each architecture. */
static void test_numbers(void **state)
{
	static const uint32_t architectures[] = {SCMP_ARCH_X86_64, SCMP_ARCH_X86, SCMP_ARCH_X32,
						 SCMP_ARCH_AARCH64};
	size_t known = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(architectures); i++)
		for (int number = 0; number < MOST_NUMBERS; number++) {
			_cleanup_(freep) char *name =
				seccomp_syscall_resolve_num_arch(architectures[i], number);

			if (name && !calls_find(CALLS_SYSTEM, name))
				fail_msg("kernel/calls.c does not know the call %d, %s", number,
					 name);
			known += name != NULL;
		}
	assert_true(known > 1000);
}

struct header {
	enum calls_kind kind;
	const char *path, *prefix;
	const char *value; /* what it is defined as begins so; NULL: anything */
	bool numbered;	   /* and there is nothing to it but a number, which the table has, too */
};

static unsigned long number_of(const struct calls_row *row, const char *name)
{
	char words[CALLS_NAME_SIZE + 2];
	const char *at;

	snprintf(words, sizeof(words), "%s=", name);
	at = strstr(row->names, words);
	assert_non_null(at);
	return strtoul(at + strlen(words), NULL, 0);
}

/* As a number, or as fcntl(2)'s are written. */
static unsigned long value_in(const char *line, const char *name)
{
	static const char base[] = "(F_LINUX_SPECIFIC_BASE";
	const char *value = strstr(line, name) + strlen(name);

	value += strspn(value, " \t");
	if (strncmp(value, base, strlen(base)) != 0)
		return strtoul(value, NULL, 0);
	value += strlen(base);
	return F_LINUX_SPECIFIC_BASE + strtoul(value + strspn(value, " \t+"), NULL, 0);
}

/* A line "#define NAME VALUE" of those; what belongs to an option is written "# define". */
static bool defines(const struct header *header, const char *line, char name[CALLS_NAME_SIZE])
{
	char value[32];

	return sscanf(line, "#define %63s %31s", name, value) == 2 &&
	       strncmp(name, header->prefix, strlen(header->prefix)) == 0 && !strchr(name, '(') &&
	       (!header->value || strncmp(value, header->value, strlen(header->value)) == 0);
}

static size_t check_header(const struct header *header)
{
	FILE *file = fopen(header->path, "re");
	char line[512], name[CALLS_NAME_SIZE];
	size_t count = 0;

	/* Pidfds have a header of their own since Linux 6.12 only. */
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		const struct calls_row *row;

		if (!defines(header, line, name))
			continue;
		row = calls_find(header->kind, name);
		if (!row)
			fail_msg("%s: kernel/calls.c does not know %s", header->path, name);
		if (header->numbered && number_of(row, name) != value_in(line, name))
			fail_msg("%s: %s has another number there", header->path, name);
		count++;
	}
	fclose(file);
	return count;
}

static void test_headers(void **state)
{
	static const struct header headers[] = {
		{CALLS_PRCTL, "/usr/include/linux/prctl.h", "PR_", NULL, true},
		{CALLS_FCNTL, "/usr/include/linux/fcntl.h", "F_", "(F_LINUX_SPECIFIC_BASE", true},
		{CALLS_IOCTL, "/usr/include/linux/fs.h", "FI", "_IO", false},
		{CALLS_IOCTL, "/usr/include/linux/fs.h", "FS_IOC", "_IO", false},
		{CALLS_IOCTL, "/usr/include/linux/fscrypt.h", "FS_IOC", "_IO", false},
		{CALLS_IOCTL, "/usr/include/linux/fsverity.h", "FS_IOC", "_IO", false},
		{CALLS_IOCTL, "/usr/include/linux/nsfs.h", "NS_", "_IO", false},
		{CALLS_IOCTL, "/usr/include/linux/pidfd.h", "PIDFD_", "_IO", false},
	};
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		count += check_header(&headers[i]);
	assert_true(count > 90);
}

/*
 * The numbers that the programs judge by are those of the table, and none of what they let pass is
 * missing there.
 */
static void test_constants(void **state)
{
	FILE *file = fopen("bpf/pure/kernel_constants.h", "re");
	char line[512], name[CALLS_NAME_SIZE], value[32];
	size_t count = 0;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		static const enum calls_kind kinds[] = {CALLS_FCNTL, CALLS_IOCTL};

		if (sscanf(line, "#define %63s %31s", name, value) != 2)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			const struct calls_row *row = calls_find(kinds[i], name);

			if (row && number_of(row, name) != strtoul(value, NULL, 0))
				fail_msg("%s is another number to the programs", name);
			count += row != NULL;
		}
		if (strncmp(name, "FS_IOC", 6) == 0 && !calls_find(CALLS_IOCTL, name))
			fail_msg("kernel/calls.c does not know %s", name);
	}
	fclose(file);
	assert_true(count > 30);
}

static int number_by(uint32_t architecture, const char *constant)
{
	char name[CALLS_NAME_SIZE] = "";
	int newer;

	for (size_t i = 0; constant[i] && i < sizeof(name) - 1; i++)
		name[i] = (char)tolower(constant[i]);
	newer = newer_call_number(name);
	if (!calls_find(CALLS_SYSTEM, name))
		fail_msg("kernel/calls.c does not know %s", name);
	return newer >= 0 ? newer : seccomp_syscall_resolve_name_arch(architecture, name);
}

/* So are those of the calls that they look for, by either entry. */
static void test_call_numbers(void **state)
{
	FILE *file = fopen("bpf/core/machine.bpf.h", "re");
	uint32_t usual = SCMP_ARCH_X86_64, narrow = SCMP_ARCH_X86;
	char line[512], name[CALLS_NAME_SIZE];
	int value, count = 0, last = 0;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		bool arm = strstr(line, "(__TARGET_ARCH_arm64)");

		if (arm || strstr(line, "(__TARGET_ARCH_x86)")) {
			usual = arm ? SCMP_ARCH_AARCH64 : SCMP_ARCH_X86_64;
			narrow = arm ? SCMP_ARCH_ARM : SCMP_ARCH_X86;
		}
		if (sscanf(line, "#define NR_LAST_KNOWN %i", &last) == 1)
			continue;
		if (sscanf(line, "#define NR_%63s %i", name, &value) == 2)
			assert_int_equal(number_by(usual, name), value);
		else if (sscanf(line, "#define NR32_%63s %i", name, &value) == 2)
			assert_int_equal(number_by(narrow, name), value);
		else
			continue;
		count++;
	}
	fclose(file);
	assert_true(count > 35);
	assert_non_null(newer_call_name(last));
	assert_null(newer_call_name(last + 1));
}

static const char *const filters[] = {
	[CALLS_PASS] = "",
	[CALLS_REFUSED] = "always",
	[CALLS_UNLESS_NAMESPACES] = "unless namespaces are allowed",
	[CALLS_UNLESS_IO_URING] = "unless io_uring is allowed",
	[CALLS_STRICT] = "strict",
	[CALLS_STRICT_NAMESPACES] = "strict, unless namespaces are allowed",
	[CALLS_STRICT_TRACING] = "strict, unless tracing is allowed",
	[CALLS_PARTLY] = "for some arguments",
};

static const char *const titles[CALLS_KINDS] = {
	[CALLS_SYSTEM] = "System calls",
	[CALLS_RING] = "Operations of io_uring",
	[CALLS_RING_REGISTER] = "What rings register",
	[CALLS_PRCTL] = "Options of prctl",
	[CALLS_FCNTL] = "Commands of fcntl",
	[CALLS_IOCTL] = "ioctls of files, mounts, processes and terminals",
};

/* Each word between backquotes. */
static void write_words(FILE *to, const char *words)
{
	_cleanup_(freep) char *list = strdup(words);
	char *rest = NULL;
	bool first = true;

	for (char *word = strtok_r(list, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		fprintf(to, "%s`%s`", first ? "" : ", ", word);
		first = false;
	}
}

static void write_row(FILE *to, const struct calls_row *row)
{
	fprintf(to, "| ");
	write_words(to, row->names);
	fprintf(to, " | ");
	if (row->hooks)
		write_words(to, row->hooks);
	if (row->kind == CALLS_SYSTEM)
		fprintf(to, " | %s", filters[row->filter]);
	fprintf(to, " | %s |\n", row->why ? row->why : "");
}

static void write_tables(FILE *to)
{
	const struct calls_row *rows;
	size_t count;

	rows = calls_rows(&count);
	for (enum calls_kind kind = 0; kind < CALLS_KINDS; kind++) {
		fprintf(to, "\n## %s\n\n", titles[kind]);
		fprintf(to, "%s",
			kind == CALLS_SYSTEM ? "| call | checked by | denied by the filter | also, "
					       "or harmless because |\n|---|---|---|---|\n"
					     : "| name | checked by | also, or harmless because "
					       "|\n|---|---|---|\n");
		for (size_t i = 0; i < count; i++)
			if (rows[i].kind == kind)
				write_row(to, &rows[i]);
	}
}

/* Up to the first table the page is written by hand. */
static void test_page(void **state)
{
	_cleanup_(freep) char *is = NULL, *tables = NULL;
	size_t size, tables_size;
	FILE *stream = open_memstream(&tables, &tables_size);
	char *first;

	(void)state;
	assert_non_null(stream);
	write_tables(stream);
	assert_int_equal(fclose(stream), 0);
	assert_int_equal(io_read_file(AT_FDCWD, PAGE, 1 << 20, &is, &size), 0);
	first = strstr(is, "\n## System calls\n");
	assert_non_null(first);
	if (getenv("CORDON_UPDATE")) {
		FILE *page = fopen(PAGE, "we");

		assert_non_null(page);
		fprintf(page, "%.*s%s", (int)(first - is), is, tables);
		assert_int_equal(fclose(page), 0);
		return;
	}
	if (strcmp(first, tables) != 0)
		fail_msg(PAGE " differs from kernel/calls.c; CORDON_UPDATE=1 writes it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),	  cmocka_unit_test(test_new),
		cmocka_unit_test(test_find),	  cmocka_unit_test(test_rows),
		cmocka_unit_test(test_numbers),	  cmocka_unit_test(test_headers),
		cmocka_unit_test(test_constants), cmocka_unit_test(test_call_numbers),
		cmocka_unit_test(test_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
