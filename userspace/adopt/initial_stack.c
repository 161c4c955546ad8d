/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a program's initial stack, and builds a longer one with more variables. */
#include "adopt/initial_stack.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/io.h"

/* Alignment of the stack pointer on x86-64 (System V ABI, 3.2.2) and arm64 (AAPCS64, 6.4.5). */
#define STACK_ALIGNMENT 16u
/* Timeout for a process that is about to stop. */
#define STOP_MSEC 1000

/* --- the words ---------------------------------------------------------------------------- */

int initial_stack_parse(const uint64_t *words, size_t count, uint64_t arguments,
			struct initial_stack *ret_stack)
{
	size_t first = count > 2 && words[0] < count - 2 ? (size_t)words[0] + 2 : 0;
	size_t variables = 0, at;

	if (first == 0 || words[first - 1] != 0 || (words[0] > 0 && words[1] != arguments))
		return -EOPNOTSUPP;
	while (first + variables < count && words[first + variables])
		variables++;
	for (at = first + variables + 1; at + 1 < count && words[at]; at += 2)
		;
	if (at + 1 >= count)
		return -EOPNOTSUPP;
	*ret_stack = (struct initial_stack){words, first, variables, at + 2};
	return 0;
}

int initial_stack_lengthen(const struct initial_stack *stack, uint64_t address,
			   char *const *variables, void **ret_bytes, size_t *ret_size,
			   uint64_t *ret_address)
{
	size_t before = stack->variable + stack->variable_count, more = 0, size, used;
	uint64_t *words, to;
	char *bytes;

	for (size = stack->count * sizeof(*words); variables[more]; more++)
		size += sizeof(*words) + strlen(variables[more]) + 1;
	to = (address - size) & ~(uint64_t)(STACK_ALIGNMENT - 1);
	bytes = calloc(1, size);
	if (!bytes)
		return -ENOMEM;
	words = (uint64_t *)bytes;
	memcpy(words, stack->words, before * sizeof(*words));
	memcpy(words + before + more, stack->words + before,
	       (stack->count - before) * sizeof(*words));
	used = (stack->count + more) * sizeof(*words);
	for (size_t i = 0; i < more; i++) {
		words[before + i] = to + used;
		used = (size_t)(stpcpy(bytes + used, variables[i]) + 1 - bytes);
	}
	*ret_bytes = bytes;
	*ret_size = size;
	*ret_address = to;
	return 0;
}

/* --- a process ---------------------------------------------------------------------------- */

/* State 'T' is a stop by a signal; only then does tracing not change the process's state. */
static int wait_for_stop(pid_t pid)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < STOP_MSEC; i++) {
		_cleanup_(freep) char *text = NULL;
		const char *name_end;
		size_t size;
		int r = io_read_file(AT_FDCWD, path, 1u << 16, &text, &size);

		if (r < 0)
			return r == -ENOENT ? -ESRCH : r;
		name_end = strrchr(text, ')');
		if (name_end && strncmp(name_end, ") T", 3) == 0)
			return 0;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

static uint64_t *stack_pointer(struct user_regs_struct *registers)
{
#ifdef __aarch64__
	return (uint64_t *)&registers->sp;
#else
	return (uint64_t *)&registers->rsp;
#endif
}

int initial_stack_move(pid_t pid, uint64_t from, uint64_t to, struct failure *failure)
{
	struct user_regs_struct registers = {};
	struct iovec vector = {&registers, sizeof(registers)};
	int r = wait_for_stop(pid);

	if (r < 0)
		return failure_set(failure, r, "process %d does not stop: %m", pid);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return failure_set(failure, errno, "process %d cannot be traced: %m", pid);
	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &vector) < 0)
		return failure_set(failure, errno, "the registers of process %d: %m", pid);
	/* A 32-bit program has a smaller register set. */
	if (vector.iov_len == sizeof(registers) && *stack_pointer(&registers) == to)
		return 0;
	if (vector.iov_len != sizeof(registers) || *stack_pointer(&registers) != from)
		return failure_set(failure, EOPNOTSUPP,
				   "process %d is not where a 64-bit program begins", pid);
	*stack_pointer(&registers) = to;
	if (ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &vector) < 0)
		return failure_set(failure, errno, "the registers of process %d: %m", pid);
	return 0;
}
