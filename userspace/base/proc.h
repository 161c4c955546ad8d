/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files of /proc/PID; see proc(5). `what` is relative to it: "stat", "ns/mnt". */
#ifndef CORDON_BASE_PROC_H
#define CORDON_BASE_PROC_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

/* As io_read_file() of base/io.h. */
int proc_read(pid_t pid, const char *what, size_t limit, char **ret_text, size_t *ret_size);

/* Opens with O_CLOEXEC. Returns the descriptor, or the -ERRNO of open(2). */
int proc_open(pid_t pid, const char *what, int flags);

/* Reads a link. Returns 0, -ENAMETOOLONG beyond PATH_MAX, or the -ERRNO of readlink(2). */
int proc_readlink(pid_t pid, const char *what, char ret_path[PATH_MAX]);

/*
 * Returns the process's cgroup in the unified hierarchy (the line "0::PATH", see cgroups(7)), as a
 * path from the hierarchy's root. The caller frees it. Returns 0, -ENODATA if there is none, or as
 * proc_read().
 */
int proc_cgroup(pid_t pid, char **ret_path);

#endif
