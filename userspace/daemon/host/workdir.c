/* SPDX-License-Identifier: Apache-2.0 */
/* Which directories may become an execution's ${workdir}, and so be opened to agent code. */
#include "daemon/host/workdir.h"

#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define PASSWD_MAX (16u << 20)
/* Deeper ones have no name that a call takes. */
#define DEPTH_MAX (PATH_MAX / 2)

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

/*
 * Takes the last word off an absolute path; one that has ".." is no name of what it is said to be.
 */
static void leave_last(char *name)
{
	size_t length = strlen(name);

	while (length > 1 && name[length - 1] == '/')
		length--;
	while (length > 1 && name[length - 1] != '/')
		length--;
	while (length > 1 && name[length - 1] == '/')
		length--;
	name[length] = '\0';
}

static bool same_directory(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * Is `directory` the one that is open or an ancestor of it? Climbs by "..", so that names play no
 * part, and one step at a time: whoever asks chooses how deep it lies.
 */
static bool contains(const struct stat *directory, int inner_fd)
{
	_cleanup_(closep) int fd = openat(inner_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat here, below = {};

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		int parent;

		if (fd < 0 || fstat(fd, &here) < 0)
			return false;
		if (same_directory(&here, directory))
			return true;
		/* The root's parent is itself. */
		if (depth > 0 && same_directory(&here, &below))
			return false;
		below = here;
		parent = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = parent;
	}
	return true;
}

/*
 * Does the name lead to `directory`, or to something in it? By its own words as long as these are
 * no links: a home may be a mount whose server does not answer, or mounted by whoever steps into
 * it. What cannot be looked at does not exist for anybody.
 */
static bool directory_contains_path(const struct stat *directory, const char *path)
{
	_cleanup_(closep) int fd = -1;
	char name[PATH_MAX];
	struct statx here;

	if (snprintf(name, sizeof(name), "%s", path) >= (int)sizeof(name))
		return false;
	for (;;) {
		if (statx(AT_FDCWD, name,
			  AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
			  STATX_TYPE | STATX_INO, &here) < 0)
			return false;
		if (S_ISLNK(here.stx_mode))
			break;
		if (here.stx_ino == directory->st_ino &&
		    makedev(here.stx_dev_major, here.stx_dev_minor) == directory->st_dev)
			return true;
		if (strcmp(name, "/") == 0)
			return false;
		leave_last(name);
	}
	fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && contains(directory, fd);
}

static bool path_contains_directory(const char *path, int directory_fd)
{
	struct stat outer;

	return stat(path, &outer) == 0 && contains(&outer, directory_fd);
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
