/* SPDX-License-Identifier: Apache-2.0 */
/* Complete reads and writes on descriptors. */
#ifndef CORDON_BASE_IO_H
#define CORDON_BASE_IO_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Reads `fd` to its end into a new buffer, and appends a NUL that *ret_size does not count. The
 * caller frees the buffer.
 *
 * Returns 0, -EFBIG if there are more than `limit` bytes, -ENOMEM, or the -ERRNO of read(2).
 */
int io_read_all(int fd, size_t limit, char **ret_data, size_t *ret_size);

/* The same for a path, opened relative to dir_fd (AT_FDCWD) with O_CLOEXEC | O_NOCTTY. */
int io_read_file(int dir_fd, const char *path, size_t limit, char **ret_data, size_t *ret_size);

/*
 * Reads exactly `size` bytes, across short reads and EINTR. Returns 0, 1 if the file ends before
 * (the contents of `data` are then undefined), or the -ERRNO of read(2).
 */
int io_read_exactly(int fd, void *data, size_t size);

/* Writes all bytes, across short writes and EINTR. Returns 0 or the -ERRNO of write(2). */
int io_write_all(int fd, const void *data, size_t size);

/*
 * Atomically replaces the file `name` below dir_fd by one of mode 0600, with the temporary name
 * `fresh`. `lasting`: also survives a crash of the machine. Returns 0, or the -ERRNO of the failed
 * call.
 */
int io_replace_file(int dir_fd, const char *name, const char *fresh, const char *text,
		    bool lasting);

/* Writes a string to an existing file of sysfs or cgroupfs with one write(2). */
int io_write_file(int dir_fd, const char *path, const char *text);

/*
 * Opens a separate stream for the directory `name` below dir_fd ("." for dir_fd itself). Symbolic
 * links are not followed. The caller closes *ret_dir; dir_fd and its position are unchanged.
 * Returns 0, -ENOMEM, or the -ERRNO of openat(2).
 */
int io_open_directory(int dir_fd, const char *name, DIR **ret_dir);

#endif
