/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/directory.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* The target of a link, "" if it cannot be read. */
static void read_target(int dir_fd, const char *path, char target[PATH_MAX])
{
	ssize_t n = readlinkat(dir_fd, path, target, PATH_MAX - 1);

	target[n < 0 ? 0 : n] = '\0';
}

/* Without slashes at the end, which would make open(2) follow a link. "/" stays. */
static char *trim(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return strndup(path, length);
}

static int explain(const char *path, const char *what, int error, struct failure *failure)
{
	char target[PATH_MAX];
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
		read_target(AT_FDCWD, path, target);
		return failure_set(failure, ELOOP,
				   "%s %s is a symbolic link to '%s'; name the directory itself",
				   what, path, target);
	}
	if (error == ENOTDIR && lstat(path, &st) == 0)
		return failure_set(failure, error, "%s %s is not a directory", what, path);
	if (error == ENOENT)
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
	_cleanup_(freep) char *name = trim(path), *real = NULL;
	_cleanup_(closep) int fd = -1;
	char link[64], target[PATH_MAX];

	if (!name)
		return failure_set(failure, ENOMEM, "cannot open %s: %m", what);
	if (name[0] == '\0')
		return failure_set(failure, ENOENT, "%s has an empty name", what);
	fd = open(name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return explain(name, what, errno, failure);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	read_target(AT_FDCWD, link, target);
	if (target[0] != '/')
		return failure_set(failure, ENOENT, "cannot tell the path of %s %s", what, path);
	if (!is_at(fd, target))
		return failure_set(
			failure, ENOENT,
			"%s %s was removed, or is hidden below a mount; name one that is "
			"there",
			what, path);
	if (!is_utf8(target))
		return failure_set(failure, EILSEQ,
				   "the path of %s is not UTF-8 and could not be recorded; rename "
				   "it",
				   what);
	real = strdup(target);
	if (!real)
		return failure_set(failure, ENOMEM, "cannot open %s: %m", what);
	*ret_fd = TAKE_FD(fd);
	*ret_path = TAKE_PTR(real);
	return 0;
}
