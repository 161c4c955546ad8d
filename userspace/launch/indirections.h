/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds names through which programs outside obey files of the work directory: symbolic links at
 * names that tools look for, in the work directory and in the home directory, and settings of git
 * that name a file. Rules about the name do not hold for the file that it leads to, so the caller
 * turns what is found into rules of its own.
 *
 * Links and settings are the owner's: an execution makes none at names that are protected. So the
 * search is bounded, and reports what it leaves out.
 */
#ifndef CORDON_LAUNCH_INDIRECTIONS_H
#define CORDON_LAUNCH_INDIRECTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/parcel.h"
#include "launch/git_files.h"

#define INDIRECTIONS_MAX 64u
/* Of all texts together, with their NULs: a request has to fit into one packet. */
#define INDIRECTIONS_SIZE_MAX 12288u
/*
 * Of each indirection: the name that programs obey ("${workdir}/.envrc", "${home}/.bashrc"), where
 * it leads below the work directory ("tools/envrc"), and by what ("symbolic link", "core.hooksPath
 * in .git/config"). A target with "/." at its end means the object alone, as of a link on the way.
 */
#define INDIRECTIONS_TEXTS 3u

struct indirections {
	char **texts; /* NULL-terminated, or NULL */
	size_t count; /* of indirections */
	size_t size;
	char **unresolved; /* sentences, NULL-terminated, or NULL */
};

void indirections_release(struct indirections *indirections);

/* Returns 0, or -ENOMEM. */
int indirections_find(const struct git_places *places, const struct git_repository *repository,
		      struct indirections *ret_indirections);

/* Adds a sentence on what is left out. Returns 0, or -ENOMEM. */
int indirections_unresolved(struct indirections *indirections, const char *format, ...)
	_printf_(2, 3);

/*
 * Whether all texts are as indirections_find() makes them: names begin with a variable; targets
 * have no part that is empty, "." or ".."; there are no control characters, and all is UTF-8.
 */
bool indirections_are_valid(char *const *texts, char *const *unresolved);

/* For another process, which checks every text. Returns 0, -EPROTO or -ENOMEM. */
void indirections_put(const struct indirections *indirections, FILE *to);
int indirections_take(struct parcel *from, struct indirections *ret_indirections);

#endif
