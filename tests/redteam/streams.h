/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors as somebody else hands them on: with less access than the object's permissions would
 * give.
 */
#ifndef CORDON_TESTS_REDTEAM_STREAMS_H
#define CORDON_TESTS_REDTEAM_STREAMS_H

#include "tests/redteam/net.h"

static inline const char *descriptor_path(int fd)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

/* Opened anew by descriptor, with these flags. Returns the errno. */
static inline int open_again(int fd, int flags)
{
	return open_with(descriptor_path(fd), flags | O_NONBLOCK);
}

/* Calls `use` with one end of a pipe that a process outside made: 0 to read, 1 to write. */
static inline int with_pipe_from_outside(int which, int (*use)(int fd))
{
	int fd = NEED(receive_descriptor(which ? "socket:pipe:1" : "socket:pipe:0")),
	    error = use(fd);

	close(fd);
	return error;
}

/* The same with a pipe of the execution, in a process that has no descriptor of the other end. */
static inline int with_own_pipe(int which, int (*use)(int fd))
{
	int ends[2], error;
	pid_t pid;

	NEED(pipe(ends));
	pid = NEED(fork());
	if (pid == 0) {
		close(ends[!which]);
		_exit(use(ends[which]));
	}
	error = exit_status(pid);
	close(ends[0]);
	close(ends[1]);
	return error;
}

/*
 * Calls `use` with a memory file in a process that has it open with these flags only; its parent
 * can write to it.
 */
static inline int with_memory(int flags, int (*use)(int fd))
{
	int memory = NEED(memfd_create("shared", 0)), handed, error;
	pid_t pid;

	NEED(write(memory, "theirs", 6));
	handed = NEED(open(descriptor_path(memory), flags));
	pid = NEED(fork());
	if (pid == 0) {
		close(memory);
		_exit(use(handed));
	}
	error = exit_status(pid);
	close(handed);
	close(memory);
	return error;
}

static inline int with_readable_memory(int (*use)(int fd))
{
	return with_memory(O_RDONLY, use);
}

#endif
