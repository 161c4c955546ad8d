/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel shows of a process below /proc/PID; see proc(5). `what` is relative to that:
 * "stat", "ns/mnt".
 */
#ifndef CORDON_BASE_PROC_H
#define CORDON_BASE_PROC_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

/* As io_read_file() of base/io.h. */
int proc_read(pid_t pid, const char *what, size_t limit, char **ret_text, size_t *ret_size);

/* With O_CLOEXEC. The descriptor, or the negative errno of open(2). */
int proc_open(pid_t pid, const char *what, int flags);

/*
 * Where a link leads. -ENAMETOOLONG: further than PATH_MAX; else the negative errno of readlink(2).
 */
int proc_readlink(pid_t pid, const char *what, char ret_path[PATH_MAX]);

/*
 * Its cgroup of the unified hierarchy (the line "0::PATH", see cgroups(7)), as a path from where
 * that begins; caller frees. -ENODATA: there is none; else as proc_read().
 */
int proc_cgroup(pid_t pid, char **ret_path);

#endif
