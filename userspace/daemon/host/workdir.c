/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/workdir.h"

#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"

#define PASSWD_MAX (16u << 20)

/* May not be a work directory, nor lie below one. */
static const char *const system_directories[] = {
	"/",
	"/boot",
	"/dev",
	"/etc",
	"/home",
	"/media",
	"/mnt",
	"/opt",
	"/proc",
	"/root",
	"/run",
	"/srv",
	"/sys",
	"/tmp",
	"/usr",
	"/usr/bin",
	"/usr/lib",
	"/usr/local",
	"/usr/sbin",
	"/usr/share",
	"/var",
	"/var/cache",
	"/usr/local/bin",
	"/usr/local/lib",
	"/var/lib",
	"/var/log",
	"/var/spool",
	"/var/tmp",
	/* Links into /usr mostly, so last: the name that the caller knows is said. */
	"/bin",
	"/lib",
	"/lib32",
	"/lib64",
	"/sbin",
	NULL,
};

/* Nothing below them may be one either. */
static const char *const closed_trees[] = {"/boot", "/etc", "/proc", "/sys"};

const char *const *workdir_system_directories(void)
{
	return system_directories;
}

static bool same_directory(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * Is `directory` the inner one or an ancestor of it? Climbs by "..", so that names play no part: one call for each
 * step, as this is asked about every home directory at each launch. An inner one that cannot be looked at does not
 * exist for anybody.
 */
static bool contains(const struct stat *directory, int inner_fd, const char *inner)
{
	char path[PATH_MAX];
	size_t length = (size_t)snprintf(path, sizeof(path), "%s/.", inner);
	struct stat here, below = {};

	if (length >= sizeof(path))
		return false;
	for (int depth = 0; length < sizeof(path); depth++) {
		if (fstatat(inner_fd, path, &here, 0) < 0)
			return false;
		if (same_directory(&here, directory))
			return true;
		/* The root's parent is itself. */
		if (depth > 0 && same_directory(&here, &below))
			return false;
		below = here;
		length += (size_t)snprintf(path + length, sizeof(path) - length, "/..");
	}
	return true;
}

static bool directory_contains_path(const struct stat *directory, const char *path)
{
	return contains(directory, AT_FDCWD, path);
}

static bool path_contains_directory(const char *path, int directory_fd)
{
	struct stat outer;

	return stat(path, &outer) == 0 && contains(&outer, directory_fd, ".");
}

static int refuse(struct failure *failure, const char *relation, const char *path)
{
	return failure_set(failure, EPERM,
			   "the work directory %s %s; choose a directory of its own for the code "
			   "to work in",
			   relation, path);
}

static int check_homes(const struct stat *directory, const char *passwd, struct failure *failure)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(fclosep) FILE *users = NULL;
	const struct passwd *user;
	size_t size = 0;
	int r = io_read_file(AT_FDCWD, passwd, PASSWD_MAX, &text, &size);

	/* From memory: fgetpwent(3) asks the kernel twice for each line where it is in a file. */
	if (r == 0)
		users = fmemopen(text, size, "r");
	if (!users)
		return failure_set(failure, r < 0 ? r : errno,
				   "cannot read %s for home directories: %m", passwd);
	while ((user = fgetpwent(users)) != NULL) {
		if (user->pw_dir[0] != '/' || !directory_contains_path(directory, user->pw_dir))
			continue;
		return refuse(failure, "is or contains the home directory", user->pw_dir);
	}
	return 0;
}

int workdir_check(int fd, const char *passwd, const char *const *own, struct failure *failure)
{
	struct stat directory;

	if (fstat(fd, &directory) < 0)
		return failure_set(failure, errno, "cannot examine the work directory: %m");
	if (!S_ISDIR(directory.st_mode))
		return failure_set(failure, ENOTDIR, "the work directory is not a directory");
	for (size_t i = 0; system_directories[i]; i++)
		if (directory_contains_path(&directory, system_directories[i]))
			return refuse(failure, "is or contains the system directory",
				      system_directories[i]);
	for (size_t i = 0; i < ARRAY_SIZE(closed_trees); i++)
		if (path_contains_directory(closed_trees[i], fd))
			return refuse(failure, "lies in the system directory", closed_trees[i]);
	for (const char *const *path = own; *path; path++) {
		if (directory_contains_path(&directory, *path))
			return refuse(failure, "is or contains cordon's own directory", *path);
		if (path_contains_directory(*path, fd))
			return refuse(failure, "lies in cordon's own directory", *path);
	}
	return check_homes(&directory, passwd, failure);
}
