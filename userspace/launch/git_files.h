/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and parses the configuration files that git would read in a directory: the system's, the
 * user's and the repository's, with all included files.
 *
 * The caller must run as the owner of the files, because a file can name any other path.
 */
#ifndef CORDON_LAUNCH_GIT_FILES_H
#define CORDON_LAUNCH_GIT_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The owner and the places of the files. Paths are absolute. */
struct git_places {
	int root_fd;	     /* another root directory; -1: the caller's root */
	const char *workdir; /* the top directory of the repository, if any */
	const char *home;    /* or NULL */
	const char *xdg;     /* XDG_CONFIG_HOME, or NULL */
	const char *global;  /* GIT_CONFIG_GLOBAL, or NULL */
};

enum git_scope {
	GIT_SCOPE_SYSTEM,
	GIT_SCOPE_USER,
	GIT_SCOPE_REPOSITORY,
};

/* The file of a variable, and whether it is active. */
struct git_origin {
	enum git_scope scope;
	const char *file; /* absolute */
	bool applies;	  /* false: below an includeIf with a false or unknown condition */
};

struct git_repository {
	bool found;
	char directory[PATH_MAX]; /* $GIT_DIR */
	char common[PATH_MAX];	  /* $GIT_COMMON_DIR */
};

/* `value` is NULL if the file has no '='. */
typedef void git_files_variable(void *context, const struct git_origin *origin, const char *name,
				const char *value);

/* As open(2) with O_RDONLY, below places->root_fd. Returns a descriptor or -errno. */
int git_files_open(const struct git_places *places, const char *path, int flags);

/* Reads a regular file of at most GIT_CONFIG_SIZE_MAX bytes; caller frees. Returns 0 or -errno. */
int git_files_read(const struct git_places *places, const char *path, char **ret_text,
		   size_t *ret_size);

/*
 * Resolves the path `text` in the file or directory `base`; "~/" means the home directory. Returns
 * 0, -ENAMETOOLONG, or -ENOENT if there is no home directory.
 */
int git_files_path(const struct git_places *places, const char *base, const char *text,
		   char ret_path[PATH_MAX]);

/* Finds the repository at the top directory places->workdir. */
void git_files_repository(const struct git_places *places, struct git_repository *ret_repository);

/*
 * Returns whether the work directory is a linked worktree (git-worktree(1)) that the repository
 * confirms: the repository's directory for the worktree must name the work directory's ".git".
 * Otherwise a file ".git" could give access to any repository. *ret_directory and *ret_common are
 * the real paths of both directories; the caller frees them.
 */
bool git_files_worktree(const struct git_places *places, const struct git_repository *repository,
			char **ret_directory, char **ret_common);

/*
 * Calls `call` for each variable in git's order: a later value replaces an earlier one. Reads all
 * files even after an error. Returns 0, or -EBADMSG, -EFBIG, -ELOOP or -ERRNO for the first
 * unreadable file. A missing file is not an error.
 */
int git_files_each(const struct git_places *places, const struct git_repository *repository,
		   git_files_variable *call, void *context);

#endif
