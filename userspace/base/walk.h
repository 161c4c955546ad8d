/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a directory by a path from an unconfined user, although agent code may have changed the
 * path: component by component, each from the previous descriptor.
 */
#ifndef CORDON_BASE_WALK_H
#define CORDON_BASE_WALK_H

#include "base/failure.h"

/*
 * Opens the directory `path`, relative to dir_fd (AT_FDCWD), with O_PATH. `what` ("the work
 * directory") is for messages.
 *
 * Invariant: no link created by agent code is followed. A symbolic link is followed only directly
 * in /, /home, /run, /usr or /var, and only if root alone can write to that directory, because no
 * execution gets these directories. The owner of other directories proves nothing: agent code often
 * runs as the same user as the caller, also as root.
 *
 * Returns 0, -ELOOP for any other symbolic link or for too many of them, -ENOMEM, or the -ERRNO of
 * open(2). *failure is set only for -ELOOP; the caller describes other errors. The caller closes
 * *ret_fd.
 */
int walk_directory(int dir_fd, const char *path, const char *what, int *ret_fd,
		   struct failure *failure);

/*
 * Opens the directory of the file `path`. *ret_name: the file's name, which points into `path`.
 * Returns -EISDIR if it is empty, otherwise as walk_directory().
 */
int walk_parent(int dir_fd, const char *path, const char *what, int *ret_fd, const char **ret_name,
		struct failure *failure);

/*
 * Returns the path of an open file; the caller frees it. Returns 0, -ENOENT if it has none,
 * -ENOMEM, or the -ERRNO of readlink(2).
 */
int walk_path_of(int fd, char **ret_path);

#endif
