/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds files of the work directory that host programs read under other names. Such an indirection
 * is a symbolic link at a name that tools look for, or a git setting that names a file. The names
 * are in the work directory and in the home directory. A rule about the name does not apply to the
 * link's target, so the caller derives additional rules from the result.
 *
 * Only the owner creates these links and settings, because an execution cannot create links at
 * protected names. The search is therefore bounded, and lists its omissions.
 */
#ifndef CORDON_LAUNCH_INDIRECTIONS_H
#define CORDON_LAUNCH_INDIRECTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/parcel.h"
#include "launch/git_files.h"

#define INDIRECTIONS_MAX 64u
/* Size of all texts with their NULs, because a request must fit into one packet. */
#define INDIRECTIONS_SIZE_MAX 12288u
/*
 * Texts of an indirection: the name that programs use ("${workdir}/.envrc", "${home}/.bashrc"), its
 * target below the work directory ("tools/envrc"), and the kind ("symbolic link", "core.hooksPath
 * in .git/config"). A target that ends with "/." means the object alone, for example a link on the
 * way.
 */
#define INDIRECTIONS_TEXTS 3u

struct indirections {
	char **texts; /* NULL-terminated, or NULL */
	size_t count; /* number of indirections */
	size_t size;
	char **unresolved; /* sentences, NULL-terminated, or NULL */
};

void indirections_release(struct indirections *indirections);

/* Returns 0, or -ENOMEM. */
int indirections_find(const struct git_places *places, const struct git_repository *repository,
		      struct indirections *ret_indirections);

/* Adds a sentence about an omission. Returns 0 or -ENOMEM. */
int indirections_unresolved(struct indirections *indirections, const char *format, ...)
	_printf_(2, 3);

/*
 * Validates all texts as indirections_find() creates them: names begin with a variable; targets
 * have no component that is empty, "." or ".."; all is UTF-8 without control characters.
 */
bool indirections_are_valid(char *const *texts, char *const *unresolved);

/*
 * Serialize the result for another process, which validates all texts. indirections_take() returns
 * 0, -EPROTO or -ENOMEM.
 */
void indirections_put(const struct indirections *indirections, FILE *to);
int indirections_take(struct parcel *from, struct indirections *ret_indirections);

#endif
