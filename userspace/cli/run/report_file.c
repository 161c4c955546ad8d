/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the file of --report as a whole, and finds it unwritable before anything runs. */
#include "cli/run/report_file.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/hex.h"
#include "base/io.h"
#include "base/walk.h"

/* More than any report: a bound on what the daemon can make us hold. */
#define REPORT_MAX_SIZE (256u << 20)

/* Links to what is open already, the caller's own doing. */
static bool is_descriptor(const char *path)
{
	static const char *const streams[] = {"/dev/stdout", "/dev/stderr"};
	static const char *const directories[] = {"/dev/fd/", "/proc/self/fd/"};

	for (size_t i = 0; i < ARRAY_SIZE(streams); i++)
		if (strcmp(path, streams[i]) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		size_t length = strlen(directories[i]);

		if (strncmp(path, directories[i], length) == 0 && path[length] != '\0' &&
		    path[length + strspn(path + length, "0123456789")] == '\0')
			return true;
	}
	return false;
}

static int open_parent(const char *path, int *ret_fd, const char **ret_name,
		       struct failure *failure)
{
	return walk_parent(AT_FDCWD, path, "the report file's directory", ret_fd, ret_name,
			   failure);
}

static int split(const char *path, struct report_file *file, struct failure *failure)
{
	const char *name;
	int r = open_parent(path, &file->directory_fd, &name, failure);

	if (r < 0)
		return r;
	file->path = strdup(path);
	file->name = strdup(name);
	return file->path && file->name ? 0 : -ENOMEM;
}

/*
 * First as a new file, to know whether there was one. Non-blocking: a FIFO that code has left there
 * must not hold us up before it is refused.
 */
static int open_file(struct report_file *file, struct failure *failure)
{
	const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
	struct stat st;

	file->fd = openat(file->directory_fd, file->name, flags | O_CREAT | O_EXCL, 0666);
	file->created = file->fd >= 0;
	if (file->fd < 0 && errno == EEXIST)
		file->fd = openat(file->directory_fd, file->name, flags);
	/* A FIFO that nobody reads, a socket. */
	if (file->fd < 0 && errno == ENXIO)
		goto special;
	if (file->fd < 0 || fstat(file->fd, &st) < 0)
		return -errno;
	if (S_ISCHR(st.st_mode))
		return fcntl(file->fd, F_SETFL, 0) < 0 ? -errno : 0;
	if (!S_ISREG(st.st_mode))
		goto special;
	file->regular = true;
	return ftruncate(file->fd, 0) < 0 ? -errno : 0;
special:
	return failure_set(failure, EINVAL,
			   "the report file %s is no regular file; for a pipe, name a descriptor "
			   "(/dev/fd/3)",
			   file->path);
}

static int open_descriptor(const char *path, struct report_file *file)
{
	/* What is behind it may have content. */
	file->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_APPEND);
	return file->fd < 0 ? -errno : 0;
}

int report_file_open(const char *path, struct report_file *ret_file, struct failure *failure)
{
	struct report_file file = REPORT_FILE_NONE;
	int r;

	if (is_descriptor(path)) {
		r = open_descriptor(path, &file);
	} else {
		r = split(path, &file, failure);
		if (r == 0)
			r = open_file(&file, failure);
	}
	if (r == 0) {
		*ret_file = file;
		return 0;
	}
	report_file_close(&file);
	if (r == -ELOOP)
		return failure_set(failure, ELOOP,
				   "the report file %s is or is reached by a symbolic link; name "
				   "the file itself",
				   path);
	return failure_set(failure, r, "cannot write the report file %s: %m", path);
}

/*
 * The code has ended. Where it has put another directory in the place of the one that was opened,
 * whoever reads the report by its name would read what it left there.
 */
static int find_directory(struct report_file *file, struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	struct stat now, before;
	const char *name;
	int r;

	r = open_parent(file->path, &fd, &name, failure);
	if (r < 0)
		return r;
	if (fstat(fd, &now) < 0 || fstat(file->directory_fd, &before) < 0)
		return -errno;
	if (now.st_dev == before.st_dev && now.st_ino == before.st_ino)
		return 0;
	closep(&file->directory_fd);
	file->directory_fd = TAKE_FD(fd);
	return 0;
}

/* A new file beside the report. Its name cannot be foreseen, and O_EXCL does not follow links. */
static int open_beside(const struct report_file *file, mode_t mode, char name[NAME_MAX + 1])
{
	unsigned char random[8];
	char suffix[2 * sizeof(random) + 1];
	int fd;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -errno;
	hex_encode(random, sizeof(random), suffix);
	snprintf(name, NAME_MAX + 1, ".cordon-report-%s", suffix);
	fd = openat(file->directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	return fd < 0 ? -errno : fd;
}

static int write_beside(const struct report_file *file, const char *data, size_t size)
{
	_cleanup_(closep) int fd = -1;
	char name[NAME_MAX + 1];
	struct stat st;
	int r;

	if (fstat(file->fd, &st) < 0)
		return -errno;
	fd = open_beside(file, st.st_mode & 0777, name);
	if (fd < 0)
		return fd;
	r = io_write_all(fd, data, size);
	if (r == 0 && renameat(file->directory_fd, name, file->directory_fd, file->name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(file->directory_fd, name, 0);
	return r;
}

/* What the name leads to is the report, or there is a message that it is not. */
static int write_regular(struct report_file *file, const char *data, size_t size,
			 struct failure *failure)
{
	int r = find_directory(file, failure);

	return r < 0 ? r : write_beside(file, data, size);
}

/*
 * No place beside it (a directory that one may not write to): is it still the file that was opened?
 */
static bool is_in_place(const struct report_file *file)
{
	struct stat opened, named;

	return fstat(file->fd, &opened) == 0 &&
	       fstatat(file->directory_fd, file->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

int report_file_write(struct report_file *file, int from, struct failure *failure)
{
	_cleanup_(freep) char *data = NULL;
	size_t size;
	int r;

	if (file->fd < 0)
		return 0;
	r = io_read_all(from, REPORT_MAX_SIZE, &data, &size);
	if (r < 0)
		return failure_set(failure, r, "cannot read the daemon's report: %m");
	r = file->regular ? write_regular(file, data, size, failure)
			  : io_write_all(file->fd, data, size);
	if (file->regular && (r == -EACCES || r == -EPERM || r == -EROFS) && is_in_place(file))
		r = io_write_all(file->fd, data, size);
	if (r < 0)
		return failure_replace(failure, r,
				       "cannot write the report file %s: %m; what is there now is "
				       "not this run's report",
				       file->path ? file->path : "");
	return 0;
}

void report_file_discard(struct report_file *file)
{
	if (file->fd >= 0 && file->created)
		unlinkat(file->directory_fd, file->name, 0);
}

void report_file_close(struct report_file *file)
{
	closep(&file->fd);
	closep(&file->directory_fd);
	free(file->name);
	free(file->path);
	*file = (struct report_file)REPORT_FILE_NONE;
}
