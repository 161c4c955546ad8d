/* SPDX-License-Identifier: Apache-2.0 */
#include "base/io.h"

#include <fcntl.h>
#include <string.h>

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

int io_write_file(int dir_fd, const char *path, const char *text)
{
	_cleanup_(closep) int fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		return -errno;
	return 0;
}
