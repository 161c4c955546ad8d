/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads and writes over descriptors. */
#ifndef CORDON_BASE_IO_H
#define CORDON_BASE_IO_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Reads all of `fd` to its end into a fresh buffer, which gets a NUL behind the last byte that
 * *ret_size does not count. Caller frees.
 *
 * -EFBIG: more than `limit` bytes; -ENOMEM; or what read(2) said.
 */
int io_read_all(int fd, size_t limit, char **ret_data, size_t *ret_size);

/* The same for a path, opened relative to dir_fd (AT_FDCWD) with O_CLOEXEC | O_NOCTTY. */
int io_read_file(int dir_fd, const char *path, size_t limit, char **ret_data, size_t *ret_size);

/*
 * Reads `size` bytes, over short reads and EINTR. 1: the end came first, and what is in `data` is
 * of no use. Negative errno as read(2).
 */
int io_read_exactly(int fd, void *data, size_t size);

/* Writes all of it, over short writes and EINTR. Negative errno as write(2). */
int io_write_all(int fd, const void *data, size_t size);

/*
 * Puts a file of mode 0600 in the place of `name` below dir_fd, by way of `fresh` beside it:
 * whoever looks finds the one or the other whole. `lasting`: over a crash of the machine, too.
 * Negative errno of what failed.
 */
int io_replace_file(int dir_fd, const char *name, const char *fresh, const char *text,
		    bool lasting);

/* Writes a string to an existing file (sysfs, cgroupfs): one write(2). */
int io_write_file(int dir_fd, const char *path, const char *text);

/*
 * A stream of its own over the directory `name` below dir_fd ("." for that one), which is no
 * symbolic link; caller closes it. dir_fd stays the caller's, and where it is read. -ENOMEM, or
 * what openat(2) said.
 */
int io_open_directory(int dir_fd, const char *name, DIR **ret_dir);

#endif
