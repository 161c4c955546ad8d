/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the program for a command name without a slash. */
#ifndef CORDON_LAUNCH_PROGRAM_PATH_H
#define CORDON_LAUNCH_PROGRAM_PATH_H

#include <stddef.h>

/*
 * Finds the first program `name` in `path`, the value of PATH or NULL. Returns the path in `room`,
 * or NULL if the name has a slash, if no such program is executable or fits, or if an earlier entry
 * of PATH means the work directory. Allocates no memory and only calls access(2), so that a child
 * can call it before its exec.
 */
const char *program_path_find(const char *name, const char *path, char *room, size_t size);

#endif
