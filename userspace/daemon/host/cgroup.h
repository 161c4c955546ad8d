/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroups (v2) of executions: MOUNT/cordon/ID each. They carry the limits, and cgroup.kill
 * ends what is in them; identity never rests on them.
 */
#ifndef CORDON_DAEMON_CGROUP_H
#define CORDON_DAEMON_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "policy/core/compiled.h"

#define CGROUP_TREE_NAME "cordon"

enum cgroup_controller {
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_CPU,
	CGROUP_HUGETLB,
	CGROUP_IO,
	CGROUP_CONTROLLER_COUNT,
};

struct cgroup_tree {
	int fd;					 /* of MOUNT/cordon; -1: not open */
	char *path;				 /* the same as a path */
	bool available[CGROUP_CONTROLLER_COUNT]; /* usable in the executions' cgroups; io: by now */
};

/*
 * Where cgroup2 is mounted, from the text of /proc/self/mountinfo. Caller frees. -ENOENT: nowhere.
 */
int cgroup_mount_point(const char *mountinfo, char **ret_path);

/*
 * Makes MOUNT/cordon and enables the controllers on the way down, as far as they exist.
 * `mount_point` NULL: find it. -ENOENT: no cgroup2; or what the file system said.
 */
int cgroup_tree_open(const char *mount_point, struct cgroup_tree *ret_tree,
		     struct failure *failure);
void cgroup_tree_close(struct cgroup_tree *tree);

/*
 * Makes a cgroup with these limits. *ret_missing: NULL-terminated texts, one for each limit that
 * this
 * host cannot apply ("memory: no controller"); caller frees (protocol_strings_free).
 * -EEXIST; -EINVAL: the kernel refuses a value; ...
 */
int cgroup_create(struct cgroup_tree *tree, const char *name, const struct policy_limits *limits,
		  int *ret_fd, char ***ret_missing, struct failure *failure);

/* Moves a process there. -ESRCH: it is gone. */
int cgroup_enter(int fd, pid_t pid);

/* Moves what is in it to where the parents of these processes are. */
void cgroup_give_back(const struct cgroup_tree *tree, int fd);

/* Lets a user kill all that is in it. */
int cgroup_let_kill(int fd, uid_t uid);

/* Kills all that is in it, descendants included (cgroup.kill). */
int cgroup_kill(int fd);

/* 1: something lives in it; 0: nothing; -errno. */
int cgroup_populated(int fd);

/* Processes in it, not in its descendants. */
int cgroup_process_count(int fd, uint64_t *ret_count);

struct cgroup_usage {
	bool have_cpu, have_memory, have_pids;
	uint64_t user_nsec, system_nsec;
	uint64_t memory_peak_bytes, oom_kills;
	uint64_t pids_peak, pids_refused; /* forks that failed at the limit */
};

/* Always succeeds; what cannot be told stays false. */
void cgroup_usage(int fd, struct cgroup_usage *ret_usage);

struct cgroup_use {
	bool have_cpu, have_memory, have_pids;
	uint64_t cpu_nsec, memory_bytes, pids;
};

/* As of now; what cannot be told stays false. */
void cgroup_use(int fd, struct cgroup_use *ret_use);

/* Removes it and what is below. 0 also if it does not exist; -EBUSY: tasks are in it. */
int cgroup_remove(struct cgroup_tree *tree, const char *name);

/* Calls `visit` for each cgroup of the tree; returns what it returned if not 0. */
int cgroup_for_each(struct cgroup_tree *tree, int (*visit)(const char *name, void *context),
		    void *context);

#endif
