/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the git settings and the indirections of a work directory from its owner's files. */
#ifndef CORDON_LAUNCH_OWNER_FILES_H
#define CORDON_LAUNCH_OWNER_FILES_H

#include "launch/git_settings.h"
#include "launch/indirections.h"
#include "launch/launch.h"

struct owner_files {
	struct git_settings git;
	struct indirections indirections;
	/* For a linked worktree: see git_files_worktree(). Otherwise NULL. */
	char *git_directory, *git_common;
};

void owner_files_release(struct owner_files *files);

/*
 * Reads the files as `identity`. If that is another user, or if the caller is root, reads them in a
 * child without capabilities. indirections.unresolved lists omissions. Returns 0 or -ENOMEM.
 */
int owner_files_read(const struct git_places *places, const struct launch_identity *identity,
		     struct owner_files *ret_files);

/*
 * Serialize the result for another process of the same program. owner_files_take() returns 0,
 * -EPROTO or -ENOMEM.
 */
void owner_files_put(const struct owner_files *files, FILE *to);
int owner_files_take(struct parcel *from, struct owner_files *ret_files);

#endif
