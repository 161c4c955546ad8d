/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/report_file.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/hex.h"
#include "base/io.h"

/* More than any report: a bound on what the daemon can make us hold. */
#define REPORT_MAX_SIZE (256u << 20)

/* What follows `workdir` in an absolute path, or NULL. */
static const char *below(const char *path, const char *workdir)
{
	size_t length = strlen(workdir);

	return strncmp(path, workdir, length) == 0 && path[length] == '/' ? path + length + 1
									  : NULL;
}

static int open_parent(const char *directory, const char *workdir, int workdir_fd)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	_cleanup_(freep) char *full = NULL;
	const char *rest;
	int fd;

	full = directory[0] == '/' ? strdup(directory) : NULL;
	if (!full) {
		_cleanup_(freep) char *here = getcwd(NULL, 0);

		if (!here || asprintf(&full, "%s/%s/", here, directory) < 0) {
			full = NULL;
			return -ENOMEM;
		}
	}
	rest = below(full, workdir);
	if (rest && *rest)
		fd = (int)syscall(SYS_openat2, workdir_fd, rest, &how, sizeof(how));
	else
		fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int split(const char *path, const char *workdir, int workdir_fd, struct report_file *file)
{
	const char *slash = strrchr(path, '/');
	_cleanup_(freep) char *directory = NULL;

	directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	file->name = strdup(slash ? slash + 1 : path);
	if (!directory || !file->name)
		return -ENOMEM;
	if (file->name[0] == '\0')
		return -EISDIR;
	file->directory_fd = open_parent(directory, workdir, workdir_fd);
	return file->directory_fd < 0 ? file->directory_fd : 0;
}

/* First as a new file, to know whether there was one. */
static int open_file(const char *path, struct report_file *file)
{
	/* /dev/stdout and /dev/fd/3 are links to what is open already, and may have content. */
	bool device = strncmp(path, "/dev/", 5) == 0;
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (device ? O_APPEND : O_TRUNC | O_NOFOLLOW);
	struct stat st;

	file->fd = openat(file->directory_fd, file->name, flags | O_CREAT | O_EXCL, 0666);
	file->created = file->fd >= 0;
	if (file->fd < 0 && errno == EEXIST)
		file->fd = openat(file->directory_fd, file->name, flags);
	if (file->fd < 0 || fstat(file->fd, &st) < 0)
		return -errno;
	file->regular = !device && S_ISREG(st.st_mode);
	return 0;
}

int report_file_open(const char *path, const char *workdir, int workdir_fd,
		     struct report_file *ret_file, struct failure *failure)
{
	struct report_file file = REPORT_FILE_NONE;
	int r;

	r = split(path, workdir, workdir_fd, &file);
	if (r == 0)
		r = open_file(path, &file);
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
	r = file->regular ? write_beside(file, data, size) : -EACCES;
	/* No place beside it (a directory that one may not write to): then into the file itself. */
	if (r == -EACCES || r == -EPERM || r == -EROFS)
		r = io_write_all(file->fd, data, size);
	if (r < 0)
		return failure_set(failure, r, "cannot write the report file %s: %m", file->name);
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
	*file = (struct report_file)REPORT_FILE_NONE;
}
