/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All LSM hooks of the known kernels: the arguments that programs expect, or the reason why no
 * program is needed.
 *
 * A program reads a hook's arguments by position. With an additional argument, it would mistake
 * that one for the verdict so far. Therefore each hook's arguments are compared with the expected
 * ones.
 */
#ifndef CORDON_KERNEL_HOOKS_H
#define CORDON_KERNEL_HOOKS_H

#include <stddef.h>

#include "base/failure.h"

struct btf;

#define HOOKS_NAME_SIZE 64

/*
 * Returns 0, or -EOPNOTSUPP with a hook in `failure` that has arguments which no program expects.
 */
int hooks_check(const struct btf *kernel, struct failure *failure);

/*
 * Returns the number of unknown hooks of this kernel; ret_first is one of them, or "". Accesses
 * through them are checked only if they also pass a known hook.
 */
int hooks_count_new(const struct btf *kernel, char ret_first[HOOKS_NAME_SIZE]);

/* Returns 1 if the hook has a program, 0 if none is needed, or -ENOENT if it is not known. */
int hooks_has_program(const char *hook);

#endif
