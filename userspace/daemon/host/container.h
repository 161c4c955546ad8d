/* SPDX-License-Identifier: Apache-2.0 */
/* What a container has of its host. */
#ifndef CORDON_DAEMON_CONTAINER_H
#define CORDON_DAEMON_CONTAINER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/failure.h"

/*
 * Everything that is mounted in the mount namespace of `pid` and comes from a directory or file of
 * the host is below one of `volumes` (NULL-terminated) or of the runtime's own storage. The process
 * is held, so that what it has does not change meanwhile.
 *
 * -EPERM: something else is mounted, `failure` says what; -ESRCH: the process is gone; -ENOMEM;
 * -EIO:
 * it cannot be told, and is refused as well.
 */
int container_check_volumes(pid_t pid, const char *const *volumes, struct failure *failure);

/* The judgement alone, on two texts as of /proc/PID/mountinfo. */
int container_judge_mounts(const char *host, const char *its, const char *const *volumes,
			   struct failure *failure);

/* Where the host has what is mounted at `point` there; false: nothing of it is, or it has not. */
bool container_find_mount(const char *host, const char *its, const char *point,
			  char ret_path[2 * PATH_MAX]);

#endif
