/* SPDX-License-Identifier: Apache-2.0 */
/* Which program a name without a slash stands for. */
#ifndef CORDON_LAUNCH_PROGRAM_PATH_H
#define CORDON_LAUNCH_PROGRAM_PATH_H

#include <stddef.h>

/*
 * The first program of that name in `path`, a value of PATH or NULL, written to `room`; it stays
 * `room`'s. NULL: the name has a slash, nothing of that name may be executed, it would not fit, or
 * an entry that stands for the work directory comes first. Allocates nothing and calls access(2)
 * alone: a child that is about to execute it can ask.
 */
const char *program_path_find(const char *name, const char *path, char *room, size_t size);

#endif
