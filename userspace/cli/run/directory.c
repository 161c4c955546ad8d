/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that a person names to have them opened to agent code. */
#include "cli/run/directory.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/walk.h"

static int explain(const char *path, const char *what, int error, struct failure *failure)
{
	struct stat st;

	if (error == -ENOTDIR && lstat(path, &st) == 0)
		return failure_set(failure, error, "%s %s is not a directory", what, path);
	if (error == -ENOENT)
		return failure_set(failure, error, "%s %s does not exist; create it first", what,
				   path);
	return failure_set(failure, error, "cannot open %s %s: %m", what, path);
}

/* Not when it was removed or something was mounted over it while somebody stood in it. */
static bool is_at(int fd, const char *path)
{
	struct stat opened, named;

	return fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* json_string() takes UTF-8 only. */
static int is_utf8(const char *text)
{
	json_t *string = json_string(text);

	json_decref(string);
	return string != NULL;
}

int directory_open(const char *path, const char *what, int *ret_fd, char **ret_path,
		   struct failure *failure)
{
	_cleanup_(freep) char *real = NULL;
	_cleanup_(closep) int fd = -1;
	int r;

	if (path[0] == '\0')
		return failure_set(failure, ENOENT, "%s has an empty name", what);
	r = walk_directory(AT_FDCWD, path, what, &fd, failure);
	if (r < 0)
		return explain(path, what, r, failure);
	r = walk_path_of(fd, &real);
	if (r < 0)
		return failure_set(failure, r, "cannot tell the path of %s %s", what, path);
	if (!is_at(fd, real))
		return failure_set(
			failure, ENOENT,
			"%s %s was removed, or is hidden below a mount; name one that is "
			"there",
			what, path);
	if (!is_utf8(real))
		return failure_set(failure, EILSEQ,
				   "the path of %s is not UTF-8 and could not be recorded; rename "
				   "it",
				   what);
	*ret_fd = TAKE_FD(fd);
	*ret_path = TAKE_PTR(real);
	return 0;
}

bool directory_is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return strncmp(path, directory, length) == 0 && path[length] == '/';
}
