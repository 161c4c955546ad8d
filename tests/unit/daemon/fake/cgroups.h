/* SPDX-License-Identifier: Apache-2.0 */
/* All of daemon/host/cgroup.h on plain directories: who is in them, the test says. */
#ifndef CORDON_TESTS_DAEMON_FAKE_CGROUPS_H
#define CORDON_TESTS_DAEMON_FAKE_CGROUPS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/host/cgroup.h"
#include "tests/unit/daemon/fake/faults.h"

static struct {
	bool populated;	   /* something is in each */
	bool survives;	   /* cgroup.kill does not change that */
	unsigned int busy; /* so many removals find one in use */
	unsigned int kills;
} cgroups;

int cgroup_mount_point(const char *mountinfo, char **ret_path)
{
	(void)mountinfo;
	(void)ret_path;
	return -ENOENT;
}

int cgroup_tree_open(const char *mount_point, struct cgroup_tree *ret_tree, struct failure *failure)
{
	(void)failure;
	*ret_tree = (struct cgroup_tree){
		.fd = open(mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.path = strdup(mount_point),
	};
	return ret_tree->fd < 0 ? -errno : 0;
}

void cgroup_tree_close(struct cgroup_tree *tree)
{
	closep(&tree->fd);
	free(tree->path);
}

int cgroup_create(struct cgroup_tree *tree, const char *name, const struct policy_limits *limits,
		  int *ret_fd, char ***ret_missing, struct failure *failure)
{
	int r = faults_next(__func__);

	(void)limits;
	if (r < 0)
		return failure_set(failure, r, "cgroup %s: %m", name);
	if (mkdirat(tree->fd, name, 0700) < 0)
		return failure_set(failure, errno, "cgroup %s: %m", name);
	*ret_fd = openat(tree->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*ret_missing = calloc(1, sizeof(**ret_missing));
	return 0;
}

int cgroup_enter(int fd, pid_t pid)
{
	(void)fd;
	(void)pid;
	FAULT_HERE();
	return 0;
}

void cgroup_give_back(const struct cgroup_tree *tree, int fd)
{
	(void)tree;
	(void)fd;
}

int cgroup_let_kill(int fd, uid_t uid)
{
	(void)fd;
	(void)uid;
	FAULT_HERE();
	return 0;
}

int cgroup_kill(int fd)
{
	(void)fd;
	FAULT_HERE();
	cgroups.kills++;
	cgroups.populated = cgroups.populated && cgroups.survives;
	return 0;
}

int cgroup_populated(int fd)
{
	(void)fd;
	FAULT_HERE();
	return cgroups.populated;
}

int cgroup_process_count(int fd, uint64_t *ret_count)
{
	(void)fd;
	FAULT_HERE();
	*ret_count = cgroups.populated;
	return 0;
}

void cgroup_usage(int fd, struct cgroup_usage *ret_usage)
{
	bool have = fd >= 0;

	*ret_usage = (struct cgroup_usage){
		.have_cpu = have,
		.have_memory = have,
		.have_pids = have,
		.user_nsec = 7,
		.memory_peak_bytes = 4096,
		.pids_peak = 3,
	};
}

void cgroup_use(int fd, struct cgroup_use *ret_use)
{
	*ret_use = (struct cgroup_use){.have_pids = fd >= 0, .pids = cgroups.populated};
}

int cgroup_remove(struct cgroup_tree *tree, const char *name)
{
	FAULT_HERE();
	if (cgroups.busy > 0) {
		cgroups.busy--;
		return -EBUSY;
	}
	return unlinkat(tree->fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

int cgroup_for_each(struct cgroup_tree *tree, int (*visit)(const char *name, void *context),
		    void *context)
{
	DIR *dir = opendir(tree->path);
	const struct dirent *entry;
	int r = dir ? 0 : -errno;

	while (r == 0 && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			r = visit(entry->d_name, context);
	if (dir)
		closedir(dir);
	return r;
}

#endif
