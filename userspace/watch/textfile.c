/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a temporary file and renames it. */
#include "watch/textfile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"

/* The collector only reads names that end in ".prom". */
#define SUFFIX ".prom"
#define FRESH  ".cordon-watch.new"

int textfile_open(const char *path, struct textfile *ret_file, struct failure *failure)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	_cleanup_(freep) char *directory = slash ? strndup(path, (size_t)(name - path))
						 : strdup(".");
	size_t length = strlen(name);
	int fd;

	if (!directory)
		return failure_set(failure, ENOMEM, "%m");
	if (length <= strlen(SUFFIX) || strcmp(name + length - strlen(SUFFIX), SUFFIX) != 0)
		return failure_set(
			failure, EINVAL,
			"%s: node_exporter only reads files with names that end in " SUFFIX, path);
	fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return failure_set(failure, errno, "cannot open the directory %s: %m", directory);
	*ret_file = (struct textfile){.directory_fd = fd, .name = name, .path = path};
	return 0;
}

int textfile_write(const struct textfile *file, const char *text, size_t size,
		   struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	int r = 0;

	/* Remove any file of a crashed process instead of writing to it. */
	(void)unlinkat(file->directory_fd, FRESH, 0);
	fd = openat(file->directory_fd, FRESH, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0 || fchmod(fd, 0644) < 0)
		r = -errno;
	if (r == 0)
		r = io_write_all(fd, text, size);
	if (r == 0 && renameat(file->directory_fd, FRESH, file->directory_fd, file->name) < 0)
		r = -errno;
	if (r == 0)
		return 0;
	if (fd >= 0)
		(void)unlinkat(file->directory_fd, FRESH, 0);
	return failure_set(failure, r, "cannot write %s: %m", file->path);
}

void textfile_remove(const struct textfile *file)
{
	(void)unlinkat(file->directory_fd, file->name, 0);
}

void textfile_close(struct textfile *file)
{
	closep(&file->directory_fd);
	file->directory_fd = -1;
}
