/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and reads the configuration files that git would read in a directory, as data: those of the
 * system and the user, those of the repository, and what they include.
 *
 * The caller must run as the user whose files they are: names may lead anywhere.
 */
#ifndef CORDON_LAUNCH_GIT_FILES_H
#define CORDON_LAUNCH_GIT_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Whose files, and where. Paths are absolute. */
struct git_places {
	int root_fd;	     /* of another root directory; -1: the caller's own */
	const char *workdir; /* the top directory of the repository, if it is one */
	const char *home;    /* or NULL */
	const char *xdg;     /* XDG_CONFIG_HOME, or NULL */
	const char *global;  /* GIT_CONFIG_GLOBAL, or NULL */
};

enum git_scope {
	GIT_SCOPE_SYSTEM,
	GIT_SCOPE_USER,
	GIT_SCOPE_REPOSITORY,
};

/* Where a variable was read. */
struct git_origin {
	enum git_scope scope;
	const char *file; /* absolute */
	bool applies; /* false: below an includeIf whose condition does not hold, or is not known */
};

struct git_repository {
	bool found;
	char directory[PATH_MAX]; /* $GIT_DIR */
	char common[PATH_MAX];	  /* $GIT_COMMON_DIR */
};

/* `value` is NULL where the file has no '='. */
typedef void git_files_variable(void *context, const struct git_origin *origin, const char *name,
				const char *value);

/* As open(2) with O_RDONLY, below places->root_fd. Returns a descriptor or -errno. */
int git_files_open(const struct git_places *places, const char *path, int flags);

/* Reads a regular file of at most GIT_CONFIG_SIZE_MAX bytes; caller frees. Returns 0 or -errno. */
int git_files_read(const struct git_places *places, const char *path, char **ret_text,
		   size_t *ret_size);

/*
 * The absolute path that `text` names in the file or directory `base`, with "~/" for the home
 * directory. Returns 0, or -ENAMETOOLONG or -ENOENT if there is no home directory.
 */
int git_files_path(const struct git_places *places, const char *base, const char *text,
		   char ret_path[PATH_MAX]);

/* The repository whose top directory is places->workdir. */
void git_files_repository(const struct git_places *places, struct git_repository *ret_repository);

/*
 * Whether the work directory is a linked worktree of the repository (git-worktree(1)), and the
 * repository says so: its directory for the worktree names the work directory's ".git". Without
 * that, a file ".git" could give access to any repository. *ret_directory and *ret_common: the real
 * paths of both directories; the caller frees them.
 */
bool git_files_worktree(const struct git_places *places, const struct git_repository *repository,
			char **ret_directory, char **ret_common);

/*
 * Calls `call` for each variable, in git's order: a later value replaces an earlier one. Returns 0;
 * -EBADMSG, -EFBIG, -ELOOP or -errno if some file could not be read to its end, after all others
 * were read. A file that does not exist is no error.
 */
int git_files_each(const struct git_places *places, const struct git_repository *repository,
		   git_files_variable *call, void *context);

#endif
