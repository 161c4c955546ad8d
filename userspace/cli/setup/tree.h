/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up names below one directory that another user may own: never outside of it, and with a
 * bound on the directory entries that are read. Symbolic links are followed only where they stay
 * below the directory (openat2(2), RESOLVE_BENEATH).
 */
#ifndef CORDON_CLI_TREE_H
#define CORDON_CLI_TREE_H

#include <stdbool.h>
#include <stddef.h>

struct tree {
	int fd;		     /* of the directory */
	unsigned int budget; /* directory entries that may still be read */
};

/* Opens a path below the directory. Returns a descriptor, or -errno. The caller closes it. */
int tree_open(const struct tree *tree, const char *path, int flags);

/* Is there a regular file of this name? */
bool tree_has_file(const struct tree *tree, const char *path);

/*
 * Reads the first bytes of a regular file. Returns their number, or -errno. `buffer` ends with a
 * NUL, which `size` includes.
 */
int tree_read(const struct tree *tree, const char *path, char *buffer, size_t size);

/*
 * Calls `found` for each path that is like the glob, in no order; `*` stays within one component
 * and matches no name that begins with a dot. Returns 0; -ENOSPC if the budget is used up; or what
 * `found` returned, if that is not 0.
 */
int tree_match(struct tree *tree, const char *glob, int (*found)(void *context, const char *path),
	       void *context);

#endif
