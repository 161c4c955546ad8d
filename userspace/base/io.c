/* SPDX-License-Identifier: Apache-2.0 */
/* Complete reads and writes on descriptors. */
#include "base/io.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

int io_read_all(int fd, size_t limit, char **ret_data, size_t *ret_size)
{
	_cleanup_(freep) char *data = NULL;
	size_t size = 0, capacity = 0;

	for (;;) {
		ssize_t n;

		if (size + 1 >= capacity) {
			char *grown;

			capacity = capacity ? capacity * 2 : 4096;
			grown = realloc(data, capacity);
			if (!grown)
				return -ENOMEM;
			data = grown;
		}
		n = read(fd, data + size, capacity - size - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		size += (size_t)n;
		if (size > limit)
			return -EFBIG;
	}
	data[size] = '\0';
	*ret_data = TAKE_PTR(data);
	*ret_size = size;
	return 0;
}

int io_read_file(int dir_fd, const char *path, size_t limit, char **ret_data, size_t *ret_size)
{
	_cleanup_(closep) int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	return io_read_all(fd, limit, ret_data, ret_size);
}

int io_read_exactly(int fd, void *data, size_t size)
{
	char *at = data;

	while (size > 0) {
		ssize_t n = read(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 1;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int io_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

static int put_in_place(int dir_fd, const char *fresh, const char *name, int fd, bool lasting)
{
	if (lasting && fsync(fd) < 0)
		return -errno;
	if (renameat(dir_fd, fresh, dir_fd, name) < 0)
		return -errno;
	return lasting && fsync(dir_fd) < 0 ? -errno : 0;
}

int io_replace_file(int dir_fd, const char *name, const char *fresh, const char *text, bool lasting)
{
	_cleanup_(closep) int fd =
		openat(dir_fd, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : io_write_all(fd, text, strlen(text));

	if (r == 0)
		r = put_in_place(dir_fd, fresh, name, fd, lasting);
	if (r < 0)
		(void)unlinkat(dir_fd, fresh, 0);
	return r;
}

int io_write_file(int dir_fd, const char *path, const char *text)
{
	_cleanup_(closep) int fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		return -errno;
	return 0;
}

int io_open_directory(int dir_fd, const char *name, DIR **ret_dir)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir;

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	*ret_dir = dir;
	return 0;
}
