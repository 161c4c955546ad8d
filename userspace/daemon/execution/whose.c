/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the execution of a process, or of a cgroup, for `cordon who`. */
#include "daemon/execution/whose.h"

#include <sys/pidfd.h>
#include <sys/stat.h>

#include "kernel/enforcement.h"

int whose_process(struct daemon *daemon, pid_t pid, struct execution **ret_execution)
{
	_cleanup_(closep) int pidfd = pidfd_open(pid, 0);
	struct execution *e;
	uint32_t slot, generation;
	int r;

	/* EINVAL: a thread that leads no process. */
	if (pidfd < 0)
		return errno == EINVAL ? -ESRCH : -errno;
	r = enforcement_label_of(daemon->enforcement, pidfd, &slot, &generation);
	if (r < 0)
		return r;
	e = slot < ARRAY_SIZE(daemon->by_slot) ? daemon->by_slot[slot] : NULL;
	if (!e || e->generation != generation)
		return -ENOENT;
	*ret_execution = e;
	return 0;
}

/*
 * 0: it has none. Asked of the file system once, so that looking through all of them costs no more
 * than that.
 */
static uint64_t cgroup_number(struct execution *e)
{
	struct stat status;

	if (!e->cgroup_number && e->cgroup_fd >= 0 && fstat(e->cgroup_fd, &status) == 0)
		e->cgroup_number = status.st_ino;
	return e->cgroup_number;
}

int whose_cgroup(struct daemon *daemon, uint64_t cgroup, struct execution **ret_execution)
{
	for (size_t i = 0; cgroup && i < ARRAY_SIZE(daemon->by_slot); i++) {
		struct execution *e = daemon->by_slot[i];

		if (e && e->state != EXECUTION_FINISHED && cgroup_number(e) == cgroup) {
			*ret_execution = e;
			return 0;
		}
	}
	return -ENOENT;
}
