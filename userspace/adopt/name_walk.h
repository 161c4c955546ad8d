/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves a program's name component by component, and reports each directory that the result
 * depends on. In patterns `*` matches any text within one component.
 */
#ifndef CORDON_ADOPT_NAME_WALK_H
#define CORDON_ADOPT_NAME_WALK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Called before `name` is looked up in `directory`; `name` NULL: before the directory is listed. */
struct name_visitor {
	void (*visit)(void *context, const char *directory, const char *name);
	void *context;
};

/*
 * As realpath(3), but a missing or unreadable component counts as no link. `visitor`: called for
 * each component, or NULL. Returns 0, -ELOOP or -ENAMETOOLONG.
 */
int name_walk_resolve(const char *path, const struct name_visitor *visitor,
		      char ret_path[PATH_MAX]);

bool name_walk_is_pattern(const char *path);

/* Bytes of the pattern before its first `*`. */
size_t name_walk_fixed(const char *pattern);

/* Matches a path against a pattern in the same way as the BPF programs. */
bool name_walk_is_like(const char *pattern, const char *path);

/*
 * Calls `found` for each path that matches the pattern, without following a link at its end.
 * Returns 0, -E2BIG if more than 256 directories would be listed, or the result of `found` if it is
 * not 0.
 */
int name_walk_match(const char *pattern, const struct name_visitor *visitor,
		    int (*found)(void *context, const char *path), void *context);

#endif
