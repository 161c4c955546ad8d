/* SPDX-License-Identifier: Apache-2.0 */
/* What a user's own files say about a work directory: git settings, and indirections. */
#ifndef CORDON_LAUNCH_OWNER_FILES_H
#define CORDON_LAUNCH_OWNER_FILES_H

#include "launch/git_settings.h"
#include "launch/indirections.h"
#include "launch/launch.h"

struct owner_files {
	struct git_settings git;
	struct indirections indirections;
	/* Of a linked worktree: see git_files_worktree(). NULL: it is none. */
	char *git_directory, *git_common;
};

void owner_files_release(struct owner_files *files);

/*
 * Reads the files as `identity`, in a process of its own without capabilities if that is another
 * user, or if the caller is root.
 * What cannot be found out is listed in indirections.unresolved. Returns 0, or -ENOMEM.
 */
int owner_files_read(const struct git_places *places, const struct launch_identity *identity,
		     struct owner_files *ret_files);

/* For another process of the same program; returns -EPROTO or -ENOMEM. */
void owner_files_put(const struct owner_files *files, FILE *to);
int owner_files_take(struct parcel *from, struct owner_files *ret_files);

#endif
