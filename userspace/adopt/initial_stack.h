/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that a program's stack begins with: the number of its arguments, pointers to them, 0,
 * pointers to its variables, 0, and the pairs of the auxiliary vector, of which the last begins
 * with 0 (System V ABI, "Initial Process Stack"; create_elf_tables(), fs/binfmt_elf.c).
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
	size_t variable_count; /* without the 0 behind the last one */
	size_t count;	       /* of all words */
};

/*
 * `words`: `count` of them, from where the stack pointer is; `arguments`: the address of the first
 * argument. `words` is borrowed. -EOPNOTSUPP: they are laid in another way, as a 32-bit program's.
 */
int initial_stack_parse(const uint64_t *words, size_t count, uint64_t arguments,
			struct initial_stack *ret_stack);

/*
 * The same words with pointers to `variables` ("NAME=value", NULL-terminated) behind the others,
 * and the texts of those behind all words, to be written below `address`, which is where the words
 * stand. *ret_address: where *ret_bytes begin, as aligned as a stack pointer has to be; the caller
 * frees them. -ENOMEM.
 */
int initial_stack_lengthen(const struct initial_stack *stack, uint64_t address,
			   char *const *variables, void **ret_bytes, size_t *ret_size,
			   uint64_t *ret_address);

/*
 * Has a process that a signal stops before its first instruction begin with its stack at `to`
 * instead of `from`, if it does not already; it stays stopped. For that it is traced, by the
 * process that calls, until that ends. -EPERM: somebody else traces it, or nobody may (Yama's
 * ptrace_scope 3); -EOPNOTSUPP: its stack is not at `from`, or it is no 64-bit program;
 * -ETIMEDOUT: it does not stop; -ESRCH: it is gone, or was continued meanwhile.
 */
int initial_stack_move(pid_t pid, uint64_t from, uint64_t to, struct failure *failure);

#endif
