/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a directory by a path that somebody unconfined names, where agent code may have changed
 * what the path leads to: one component at a time, each from the descriptor of the one before.
 */
#ifndef CORDON_BASE_WALK_H
#define CORDON_BASE_WALK_H

#include "base/failure.h"

/*
 * Opens the directory `path`, relative to dir_fd (AT_FDCWD), with O_PATH. `what` ("the work
 * directory") is for messages.
 *
 * A symbolic link is followed only where it lies directly in one of a few directories that are the
 * system's (/, /home, /run, /usr, /var), as long as root owns that one and nobody else may write to
 * it: no execution gets one of them as its own, so that no code has put the link there. Who owns
 * other directories says nothing, as agent code often runs as whoever names the path, root
 * included.
 *
 * -ELOOP: a symbolic link anywhere else, in the middle or at the end, or too many of them;
 * -ENOTDIR, -ENOENT, -EACCES,
 * ...: as open(2); -ENOMEM. *failure says something for -ELOOP only, the rest is the caller's to
 * word. Caller closes.
 */
int walk_directory(int dir_fd, const char *path, const char *what, int *ret_fd,
		   struct failure *failure);

/*
 * The same for the directory that the file `path` lies in; *ret_name, the file's name there, points
 * into `path`. -EISDIR where that is empty.
 */
int walk_parent(int dir_fd, const char *path, const char *what, int *ret_fd, const char **ret_name,
		struct failure *failure);

/*
 * The path of what is open; caller frees. -ENOENT: it has none; -ENOMEM; or what readlink(2) said.
 */
int walk_path_of(int fd, char **ret_path);

#endif
