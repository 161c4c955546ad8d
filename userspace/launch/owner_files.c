/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the git settings and the indirections of a work directory from its owner's files. */
#include "launch/owner_files.h"

#include <string.h>

#include "launch/as_user.h"

/* Timeout, because a home directory may be on an unresponsive file system. */
#define READ_SECONDS 10
#define READ_MAX     (1u << 20)

void owner_files_release(struct owner_files *files)
{
	git_settings_release(&files->git);
	indirections_release(&files->indirections);
	free(files->git_directory);
	free(files->git_common);
	*files = (struct owner_files){};
}

void owner_files_put(const struct owner_files *files, FILE *to)
{
	git_settings_put(&files->git, to);
	indirections_put(&files->indirections, to);
	parcel_put_text(to, files->git_directory);
	parcel_put_text(to, files->git_common);
}

int owner_files_take(struct parcel *from, struct owner_files *ret_files)
{
	struct owner_files files = {};
	int r = git_settings_take(from, &files.git);

	(void)(r < 0 || (r = indirections_take(from, &files.indirections)) < 0 ||
	       (r = parcel_take_text(from, &files.git_directory)) < 0 ||
	       (r = parcel_take_text(from, &files.git_common)) < 0);
	if (r == 0 && files.git_directory &&
	    (!files.git_common || files.git_directory[0] != '/' || files.git_common[0] != '/'))
		r = -EPROTO;
	if (r < 0)
		owner_files_release(&files);
	else
		*ret_files = files;
	return r;
}

static int find(const struct git_places *places, struct owner_files *files)
{
	struct git_repository repository;
	int r;

	git_files_repository(places, &repository);
	(void)git_files_worktree(places, &repository, &files->git_directory, &files->git_common);
	r = git_settings_find(places, &repository, &files->git);
	return r < 0 ? r : indirections_find(places, &repository, &files->indirections);
}

static void work(const void *context, FILE *to)
{
	struct owner_files files = {};

	if (find(context, &files) == 0)
		owner_files_put(&files, to);
}

int owner_files_read(const struct git_places *places, const struct launch_identity *identity,
		     struct owner_files *ret_files)
{
	_cleanup_(freep) char *data = NULL;
	struct owner_files files = {};
	struct parcel from = {};
	int r;

	if (!identity->change && geteuid() != 0) {
		r = find(places, &files);
	} else {
		r = as_user_read(identity, READ_SECONDS, READ_MAX, work, places, &data, &from.left);
		from.at = data;
		if (r == 0)
			r = owner_files_take(&from, &files);
		if (r < 0 && r != -ENOMEM)
			r = indirections_unresolved(&files.indirections,
						    "the owner's files cannot be read: %s",
						    strerror(-r));
	}
	if (r < 0)
		owner_files_release(&files);
	else
		*ret_files = files;
	return r;
}
