/* SPDX-License-Identifier: Apache-2.0 */
/* Turns enforcement off, with or without a daemon. */
#include "daemon/disable.h"

#include <fcntl.h>
#include <time.h>

#include "base/clock.h"
#include "daemon/host/cgroup.h"
#include "daemon/host/process.h"
#include "control/client.h"
#include "control/lock.h"
#include "kernel/adoption.h"
#include "kernel/enforcement.h"
#include "kernel/pins.h"

#define KILL_LOOKS     500
#define KILL_LOOK_MSEC 20

static int kill_cgroup(const char *name, void *context)
{
	const struct cgroup_tree *tree = context;
	_cleanup_(closep) int fd =
		openat(tree->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		(void)cgroup_kill(fd);
	return 0;
}

static void kill_cgroups(void)
{
	struct cgroup_tree tree;

	if (cgroup_tree_open(NULL, &tree, NULL) < 0)
		return;
	(void)cgroup_for_each(&tree, kill_cgroup, &tree);
	cgroup_tree_close(&tree);
}

static uint64_t kill_slots(struct enforcement *e)
{
	uint64_t tasks = 0;

	for (uint32_t slot = 0; slot < CORDON_MAX_EXECUTIONS; slot++) {
		const struct cordon_execution *x = enforcement_execution(e, slot);
		struct enforcement_killed killed;

		if (x->state == CORDON_EXECUTION_FREE)
			continue;
		enforcement_set_ending(e, slot);
		if (x->tasks == 0)
			(void)enforcement_release(e, slot);
		else if (enforcement_kill(e, slot, &killed) == 0 && killed.signalled == 0)
			(void)enforcement_retire(e, slot);
		tasks += x->tasks;
	}
	return tasks;
}

static void end_executions(struct enforcement *e)
{
	const struct timespec pause = {.tv_nsec = KILL_LOOK_MSEC * (long)NSEC_PER_MSEC};

	for (int i = 0; i < KILL_LOOKS && kill_slots(e) > 0; i++)
		(void)nanosleep(&pause, NULL);
	(void)kill_slots(e);
}

/* What they start would not be confined any more. */
static int refuse_living_executors(struct failure *failure)
{
	_cleanup_(freep) struct adoption_executor *list = NULL;
	size_t count = 0;

	if (adoption_list_executors(NULL, &list, &count) < 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (process_alive_since((pid_t)list[i].pid, list[i].start_nsec))
			return failure_set(
				failure, EBUSY,
				"an executor lives (process %u), and what it starts would "
				"not be confined any more; end it, or use --force",
				list[i].pid);
	return 0;
}

static int unload_pinned(bool force, struct failure *failure)
{
	enum enforcement_origin origin;
	struct cgroup_tree cgroups;
	struct enforcement *e;
	int r;

	r = cgroup_tree_open(NULL, &cgroups, failure);
	if (r < 0)
		return r;
	r = enforcement_open(cgroups.fd, &e, &origin, failure);
	cgroup_tree_close(&cgroups);
	if (r < 0)
		return r;
	if (force)
		end_executions(e);
	else
		r = refuse_living_executors(failure);
	if (r < 0) {
		enforcement_close(e);
		return r;
	}
	r = enforcement_unload(e, failure);
	if (r == -EBUSY)
		r = failure_replace(failure, EBUSY,
				    "executions of a daemon that died are live; start the daemon "
				    "(`cordon daemon`) to end and record them, or use --force");
	if (r < 0)
		enforcement_close(e);
	return r;
}

static int disable_alone(bool force, bool *ret_found, struct failure *failure)
{
	_cleanup_(closep) int lock = -1;
	struct failure why = {};
	int r;

	r = lock_take(LOCK_DAEMON, false, &lock, &why);
	if (r == -EWOULDBLOCK)
		return failure_set(failure, EBUSY,
				   "a cordon daemon is starting or leaving; try "
				   "again in some seconds");
	if (r < 0)
		return failure_set(failure, r, "%s", why.text);
	if (access(ENFORCEMENT_PIN_DIRECTORY, F_OK) < 0) {
		*ret_found = false;
		return 0;
	}
	*ret_found = true;
	r = unload_pinned(force, &why);
	if (r >= 0 || !force)
		return r < 0 ? failure_set(failure, r, "%s", why.text) : 0;
	/* Nothing that ran under it may go on without it. */
	kill_cgroups();
	return enforcement_remove_pins(failure);
}

int client_disable(bool force, bool *ret_found, struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	struct failure why = {};
	int r;

	if (geteuid() != 0)
		return failure_set(failure, EPERM, "only root can disable cordon");
	r = client_connect(&fd, &why);
	if (r == -ENOENT || r == -ECONNREFUSED)
		return disable_alone(force, ret_found, failure);
	if (r < 0)
		return failure_set(failure, r, "%s", why.text);
	*ret_found = true;
	return client_stop(fd, force, failure);
}
