/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The initial stack of a program: number of arguments, pointers to them, 0, pointers to variables,
 * 0, and the pairs of the auxiliary vector. The last pair begins with 0 (System V ABI, "Initial
 * Process Stack"; create_elf_tables(), fs/binfmt_elf.c).
 */
#ifndef CORDON_ADOPT_INITIAL_STACK_H
#define CORDON_ADOPT_INITIAL_STACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/failure.h"

struct initial_stack {
	const uint64_t *words;
	size_t variable;       /* index of the first pointer to a variable */
	size_t variable_count; /* without the final 0 */
	size_t count;	       /* of all words */
};

/*
 * Parses `count` words from the stack pointer on. `arguments`: the address of the first argument.
 * `words` must outlive *ret_stack. Returns 0, or -EOPNOTSUPP if they have another layout, as in a
 * 32-bit program.
 */
int initial_stack_parse(const uint64_t *words, size_t count, uint64_t arguments,
			struct initial_stack *ret_stack);

/*
 * Builds the stack again with additional pointers to `variables` ("NAME=value", NULL-terminated),
 * and their strings after all words. The result is for a place below `address`, the current address
 * of the words. *ret_address: the address for *ret_bytes, aligned as a stack pointer; the caller
 * frees *ret_bytes. Returns 0 or -ENOMEM.
 */
int initial_stack_lengthen(const struct initial_stack *stack, uint64_t address,
			   char *const *variables, void **ret_bytes, size_t *ret_size,
			   uint64_t *ret_address);

/*
 * Moves the stack pointer of a stopped process from `from` to `to` before its first instruction; it
 * stays stopped. The calling process traces it until the calling process ends.
 *
 * Returns 0, also if the stack is already at `to`; -EPERM if another process traces it or tracing
 * is disabled (Yama's ptrace_scope 3); -EOPNOTSUPP if its stack is not at `from` or it is not a
 * 64-bit program; -ETIMEDOUT if it does not stop; -ESRCH if it exited or was continued.
 */
int initial_stack_move(pid_t pid, uint64_t from, uint64_t to, struct failure *failure);

#endif
