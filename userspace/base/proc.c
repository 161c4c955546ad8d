/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files of /proc/PID; see proc(5). */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define PROC_NAME_MAX	64
#define CGROUP_FILE_MAX 65536
#define LOOKS		8

static void spell(char path[PROC_NAME_MAX], pid_t pid, const char *what)
{
	snprintf(path, PROC_NAME_MAX, "/proc/%d/%s", pid, what);
}

/*
 * While execve(2) of a thread replaces the process, a lookup may fail: the old leader is found by
 * its number, but has just passed the number on (proc_pid_lookup() and proc_pident_lookup(),
 * fs/proc/base.c; de_thread(), fs/exec.c). The next lookup finds the thread.
 */
static bool look_again(int r, int *looks)
{
	return (r == -ENOENT || r == -ESRCH) && ++*looks < LOOKS;
}

int proc_read(pid_t pid, const char *what, size_t limit, char **ret_text, size_t *ret_size)
{
	char path[PROC_NAME_MAX];
	int looks = 0, r;

	spell(path, pid, what);
	do
		r = io_read_file(AT_FDCWD, path, limit, ret_text, ret_size);
	while (look_again(r, &looks));
	return r;
}

int proc_open(pid_t pid, const char *what, int flags)
{
	char path[PROC_NAME_MAX];
	int looks = 0, fd;

	spell(path, pid, what);
	do {
		fd = open(path, flags | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	} while (look_again(fd, &looks));
	return fd;
}

int proc_readlink(pid_t pid, const char *what, char ret_path[PATH_MAX])
{
	char path[PROC_NAME_MAX], target[PATH_MAX];
	ssize_t n;
	int looks = 0;

	spell(path, pid, what);
	do
		n = readlink(path, target, sizeof(target));
	while (n < 0 && look_again(-errno, &looks));
	if (n < 0)
		return -errno;
	if ((size_t)n == sizeof(target))
		return -ENAMETOOLONG;
	memcpy(ret_path, target, (size_t)n);
	ret_path[n] = '\0';
	return 0;
}

int proc_cgroup(pid_t pid, char **ret_path)
{
	_cleanup_(freep) char *text = NULL;
	const char *line;
	char *path;
	size_t size;
	int r = proc_read(pid, "cgroup", CGROUP_FILE_MAX, &text, &size);

	if (r < 0)
		return r;
	line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	line = line ? strchr(line, '/') : NULL;
	if (!line)
		return -ENODATA;
	path = strndup(line, strcspn(line, "\n"));
	if (!path)
		return -ENOMEM;
	*ret_path = path;
	return 0;
}
