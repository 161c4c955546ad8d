/* SPDX-License-Identifier: Apache-2.0 */
/* The calls by which a log changes what is on disk; tests put themselves between. */
#include "audit/storage/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int storage_create(int directory_fd, const char *name, int flags, mode_t mode)
{
	int fd = openat(directory_fd, name, flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
			mode);

	return fd < 0 ? -errno : fd;
}

ssize_t storage_append(int fd, const void *data, size_t size)
{
	ssize_t n;

	do
		n = write(fd, data, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int storage_overwrite(int fd, const void *data, size_t size, uint64_t offset)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = pwrite(fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

int storage_truncate(int fd, uint64_t size)
{
	return ftruncate(fd, (off_t)size) < 0 ? -errno : 0;
}

int storage_sync(int fd)
{
	return fdatasync(fd) < 0 ? -errno : 0;
}

int storage_sync_directory(int directory_fd)
{
	/* Some file systems have nothing to sync there. */
	return fsync(directory_fd) < 0 && errno != EINVAL ? -errno : 0;
}

int storage_rename(int directory_fd, const char *from, const char *to)
{
	return renameat(directory_fd, from, directory_fd, to) < 0 ? -errno : 0;
}

int storage_remove(int directory_fd, const char *name)
{
	return unlinkat(directory_fd, name, 0) < 0 ? -errno : 0;
}
