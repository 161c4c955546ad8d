// SPDX-License-Identifier: Apache-2.0
/*
 * Checks that the table of calls knows all calls of the running kernel. These are names of its
 * functions, io_uring operations, and numbers that fcntl(2) and prctl(2) support. An option that
 * needs arguments which this test does not try is not found.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "kernel/calls.h"

/* Numbers tried after each first one; fcntl(2) has two ranges. */
#define MOST	       256
#define MOST_RINGS     256
#define FIRST_OF_LINUX 1024 /* F_LINUX_SPECIFIC_BASE */
#define NOWHERE	       (~0ul - 4095)

static int passed, failed;

static void check(bool good, const char *what)
{
	printf("%s - %s\n", good ? "ok" : "not ok", what);
	passed += good;
	failed += !good;
}

static bool is_known(enum calls_kind kind, unsigned long number)
{
	const struct calls_row *rows;
	size_t count;

	rows = calls_rows(&count);
	for (size_t i = 0; i < count; i++)
		for (const char *at = rows[i].names;
		     rows[i].kind == kind && (at = strchr(at, '='));)
			if (strtoul(++at, NULL, 0) == number)
				return true;
	return false;
}

/* Includes functions that are not in BTF. */
static void check_symbols(void)
{
	static const char *const prefixes[] = {"__x64_sys_",	     "__ia32_sys_",
					       "__x64_compat_sys_",  "__ia32_compat_sys_",
					       "__arm64_sys_arm64_", "__arm64_compat_sys_aarch32_",
					       "__arm64_sys_",	     "__arm64_compat_sys_"};
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], symbol[256];
	int seen = 0, unknown = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %*s %255s", symbol) != 1 || strchr(symbol, '.'))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
			size_t length = strlen(prefixes[i]);

			if (strncmp(symbol, prefixes[i], length) != 0)
				continue;
			seen++;
			if (!calls_find(CALLS_SYSTEM, symbol + length)) {
				printf("# unknown: %s\n", symbol);
				unknown++;
			}
			break;
		}
	}
	if (file)
		fclose(file);
	printf("# %d functions of system calls\n", seen);
	check(seen > 600 && unknown == 0, "every function of a system call is known");
}

static void check_types(const struct btf *types)
{
	char unknown[CALLS_NAME_SIZE] = "";
	int count = 0;

	for (enum calls_kind kind = CALLS_SYSTEM; types && kind <= CALLS_RING_REGISTER; kind++) {
		count += calls_count_new(types, kind, unknown);
		if (unknown[0])
			printf("# unknown: %s\n", unknown);
	}
	check(types && count == 0, "the kernel's types name no unknown call");
}

/* BTF must name as many operations as the kernel reports. */
static void check_rings(const struct btf *types)
{
	size_t size = sizeof(struct io_uring_probe) + MOST_RINGS * sizeof(struct io_uring_probe_op);
	_cleanup_(freep) struct io_uring_probe *probe = calloc(1, size);
	int id = types ? btf__find_by_name_kind(types, "io_uring_op", BTF_KIND_ENUM) : -1;
	const struct btf_type *type = id > 0 ? btf__type_by_id(types, (__u32)id) : NULL;
	int ring = (int)syscall(SYS_io_uring_setup, 4, &(struct io_uring_params){}), named = 0;

	for (unsigned int i = 0; type && i < btf_vlen(type); i++)
		named += calls_find(CALLS_RING,
				    btf__name_by_offset(types, btf_enum(type)[i].name_off)) != NULL;
	if (ring < 0 || !probe ||
	    syscall(SYS_io_uring_register, ring, IORING_REGISTER_PROBE, probe, MOST_RINGS) < 0)
		perror("# io_uring");
	else
		printf("# %d operations of io_uring, %d known\n", probe->last_op + 1, named);
	check(probe && probe->last_op > 40 && named == probe->last_op + 1,
	      "every operation of io_uring is known");
}

typedef long ask_function(unsigned long number, unsigned long argument);

static long ask_fcntl(unsigned long number, unsigned long argument)
{
	int fd = memfd_create("calls", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return syscall(SYS_fcntl, fd, number, argument);
}

static long ask_prctl(unsigned long number, unsigned long argument)
{
	return syscall(SYS_prctl, number, argument, 0ul, 0ul, 0ul);
}

static long ask_prctl_longer(unsigned long number, unsigned long argument)
{
	return syscall(SYS_prctl, number, argument, NOWHERE, 8ul, 0ul);
}

/*
 * Tries the number with each of these arguments. Runs in a child, because some options end the
 * process.
 */
static bool is_there(ask_function *ask, unsigned long number)
{
	static const unsigned long arguments[] = {0, 1, 2, NOWHERE};
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
			if (ask(number, arguments[i]) >= 0 || errno != EINVAL)
				_exit(0);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return true;
	return !WIFEXITED(status) || WEXITSTATUS(status) == 0;
}

static int count_unknown(enum calls_kind kind, ask_function *ask, unsigned long first,
			 int *ret_seen)
{
	int unknown = 0;

	for (unsigned long number = first; number < first + MOST; number++) {
		bool there = is_there(ask, number);

		*ret_seen += there;
		if (!there || is_known(kind, number))
			continue;
		printf("# unknown number: %lu\n", number);
		unknown++;
	}
	return unknown;
}

static void check_numbers(void)
{
	int seen = 0, unknown = count_unknown(CALLS_FCNTL, ask_fcntl, 0, &seen);

	unknown += count_unknown(CALLS_FCNTL, ask_fcntl, FIRST_OF_LINUX, &seen);
	printf("# %d supported commands of fcntl\n", seen);
	check(seen > 20 && unknown == 0, "every supported command of fcntl is known");
	seen = 0;
	unknown = count_unknown(CALLS_PRCTL, ask_prctl, 0, &seen);
	unknown += count_unknown(CALLS_PRCTL, ask_prctl_longer, 0, &seen);
	printf("# %d supported options of prctl\n", seen);
	check(seen > 30 && unknown == 0, "every supported option of prctl is known");
}

int main(void)
{
	struct btf *types = btf__load_vmlinux_btf();

	setvbuf(stdout, NULL, _IONBF, 0);
	check_symbols();
	check_types(types);
	check_rings(types);
	check_numbers();
	btf__free(types);
	printf("# calls: %d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
