/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that a person names to have them opened to agent code. */
#ifndef CORDON_CLI_DIRECTORY_H
#define CORDON_CLI_DIRECTORY_H

#include <stdbool.h>

#include "base/failure.h"

/*
 * Opens it and tells its real path. `what` ("the work directory") is for messages. Symbolic links
 * are not followed, but for the system's own (walk_directory()): whoever can put one there would
 * choose what is opened. Which directories are too much to open is the daemon's to say, which knows
 * them by identity.
 *
 * -ENOENT, -ENOTDIR, -EACCES, ...: as open(2); -ELOOP: a symbolic link on the way; -EILSEQ: its
 * path is not
 * UTF-8 and could not be recorded; -ENOMEM. Caller closes and frees.
 */
int directory_open(const char *path, const char *what, int *ret_fd, char **ret_path,
		   struct failure *failure);

/* By their names alone, both absolute. */
bool directory_is_below(const char *path, const char *directory);

#endif
