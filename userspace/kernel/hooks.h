/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All LSM hooks of the kernels that cordon knows: what programs take their arguments for, or why
 * none is needed.
 *
 * A program reads a hook's arguments by their place. One more among them, and it takes an argument
 * for the verdict so far; so each hook's arguments are compared with what programs were written
 * for.
 */
#ifndef CORDON_KERNEL_HOOKS_H
#define CORDON_KERNEL_HOOKS_H

#include <stddef.h>

#include "base/failure.h"

struct btf;

#define HOOKS_NAME_SIZE 64

/*
 * -EOPNOTSUPP: `failure` names a hook that this kernel calls with other arguments than any program
 * takes.
 */
int hooks_check(const struct btf *kernel, struct failure *failure);

/*
 * How many hooks this kernel has that are none of those; ret_first is one, or "". What goes through
 * them is judged only as far as it comes by others.
 */
int hooks_count_new(const struct btf *kernel, char ret_first[HOOKS_NAME_SIZE]);

/* Has it a program (1), none for a reason (0), or is it no hook that is known (-ENOENT)? */
int hooks_has_program(const char *hook);

#endif
