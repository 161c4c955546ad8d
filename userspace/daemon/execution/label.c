/* SPDX-License-Identifier: Apache-2.0 */
/* The second step of an execution: its first task, held by its parent, gets its label. */
#include "daemon/execution/label.h"

#include <string.h>

#include "base/clock.h"
#include "daemon/execution/asking.h"
#include "daemon/execution/deadline.h"
#include "daemon/host/ancestry.h"
#include "daemon/host/descriptors.h"
#include "daemon/peer/member.h"
#include "daemon/host/process.h"
#include "daemon/execution/state.h"
#include "launch/resource.h"

/* Is it what the owner says: its own held child, in the cgroup that was made for it? */
static int check_cgroup(const struct execution *e, pid_t pid, struct failure *failure)
{
	char suffix[sizeof("/" CGROUP_TREE_NAME "/") + UUID_TEXT_SIZE];
	int r;

	snprintf(suffix, sizeof(suffix), "/" CGROUP_TREE_NAME "/%s", e->id);
	r = process_in_cgroup(pid, suffix);
	if (r < 0)
		return failure_set(failure, r, "cannot read the cgroup of process %d: %m", pid);
	if (r == 0)
		return failure_set(failure, EPERM,
				   "process %d is not in the cgroup of execution %s", pid, e->id);
	return 0;
}

static int check_child(struct execution *e, int pidfd, const struct peer *peer, pid_t *ret_pid,
		       struct failure *failure)
{
	struct process_status status;
	pid_t pid, again;
	int r;

	r = process_of_pidfd(pidfd, &pid);
	if (r < 0)
		return failure_set(failure, r, "the child to be labelled: %m");
	r = process_status(pid, &status);
	if (r < 0)
		return failure_set(failure, r, "process %d, to be labelled: %m", pid);
	if (status.parent != e->owner.pid)
		return failure_set(failure, EPERM, "process %d is not a child of the client", pid);
	r = e->owner.member ? member_check_child(peer, pid, failure)
			    : check_cgroup(e, pid, failure);
	if (r < 0)
		return r;
	/* The pid was the pidfd's all the time, so what /proc said was about this process. */
	r = process_of_pidfd(pidfd, &again);
	if (r < 0 || again != pid)
		return failure_set(failure, ESRCH, "process %d is gone", pid);
	*ret_pid = pid;
	return 0;
}

/*
 * A member's child cannot enter the cgroup itself, and its parent may not have set its limits.
 * Whoever has its number by the time of the move, because it died meanwhile, goes where its parent
 * is, unharmed.
 */
static int take_child(struct execution *e, int pidfd, pid_t pid, struct failure *failure)
{
	pid_t again;
	int r;

	r = cgroup_enter(e->cgroup_fd, pid);
	if (r < 0)
		return failure_set(failure, r, "cannot move process %d to its cgroup: %m", pid);
	r = resource_limits_check(pid, &e->record.limits);
	if (process_of_pidfd(pidfd, &again) < 0 || again != pid) {
		cgroup_give_back(&e->daemon->cgroups, e->cgroup_fd);
		return failure_set(failure, ESRCH, "process %d is gone", pid);
	}
	if (r < 0)
		return failure_set(failure, r, "the limits of process %d are not in force: %m",
				   pid);
	return 0;
}

/* What was open before the label has passed no hook: it is on record, or nothing starts. */
int execution_check_descriptors(struct execution *e, int pidfd, struct failure *failure)
{
	uint32_t kept = CORDON_KEPT_DESCRIPTORS(execution_policy_flags(e));
	struct descriptor_check check;
	int r = descriptors_check(e->daemon->enforcement, pidfd, &check);

	if (r < 0)
		return failure_set(failure, r, "cannot look at the descriptors of process %d: %m",
				   e->leader);
	e->record.descriptors = check.outside;
	if (check.internet) {
		r = enforcement_watch_sockets(failure);
		if (r < 0)
			return r;
	}
	if (check.ring && !e->record.observe)
		return failure_set(
			failure, EPERM,
			"the caller has an io_uring open, whose threads would work for the "
			"execution outside it: close it");
	if (!check.refused || kept == CORDON_DESCRIPTORS_RECORD || e->record.observe)
		return 0;
	/* `cordon run` has closed them; for others nobody can. */
	if (kept == CORDON_DESCRIPTORS_CLOSE && !e->adopted)
		return 0;
	for (char **text = check.outside; *text; text++)
		if (strtoul(*text, NULL, 10) > STDERR_FILENO)
			return failure_set(failure, EPERM,
					   "the caller has descriptor %s open, which policy %s "
					   "does not grant: close it, or allow it",
					   *text, e->record.policy->name);
	return 0;
}

int execution_start_unwritten(const struct execution *e, int error, struct failure *failure)
{
	if (!logs_must_write_start(e->log))
		return 0;
	return failure_set(
		failure, error,
		"the start record cannot be written to %s (%m), and nothing runs without "
		"one",
		logs_directory(e->log));
}

/* What was not found out with its arguments before. Its start does not fail for want of that. */
static void note_starters(struct execution *e)
{
	struct audit_execution *x = &e->record;
	int count;

	if (e->owner.pid <= 0)
		return;
	x->have_login = process_login(e->owner.pid, &x->login_uid) == 0;
	if (x->starters)
		return;
	count = ancestry_read(e->owner.pid, false, &x->starters);
	x->starter_count = count > 0 ? (size_t)count : 0;
}

int execution_append_start(struct execution *e, struct failure *failure)
{
	int r;

	note_starters(e);
	e->record.clock_offset = clock_nsec(CLOCK_REALTIME) - clock_nsec(CLOCK_BOOTTIME);
	r = logs_append(e->log, audit_record_start(&e->record, clock_nsec(CLOCK_REALTIME)));

	/* It waits in memory, and is counted if it has to go. */
	if (r < 0)
		r = execution_start_unwritten(e, r, failure);
	if (r < 0)
		return r;
	e->started = true;
	e->daemon->totals.started++;
	daemon_flush_soon(e->daemon);
	return 0;
}

/* It is held until then: its time begins now. */
static void on_start_written(int result, void *context)
{
	struct execution *e = context;
	struct failure failure = {};
	int r = result < 0 ? execution_start_unwritten(e, result, &failure) : 0;

	e->writing = NULL;
	/* It may be written yet, once there is a writer: it has its end then. */
	e->written = r == 0;
	e->start = clock_nsec(CLOCK_BOOTTIME);
	if (r == 0)
		r = state_save(e->daemon->state_fd, e, &failure);
	if (r == 0) {
		(void)event_base_update_cache_time(e->daemon->base);
		deadline_start(e);
		asking_start(e);
	}
	e->daemon->execution_begun(e, r, failure.text);
}

int execution_label(struct execution *e, json_t *message, struct protocol_fds *fds,
		    const struct peer *peer, struct failure *failure)
{
	struct label_request request;
	int r;

	if (e->state != EXECUTION_PREPARED)
		return failure_set(failure, EINVAL, "execution %s is not waiting for a label",
				   e->id);
	if (fds->count != 1)
		return failure_set(failure, EINVAL, "a label request brings one pidfd");
	r = label_request_parse(message, &request, failure);
	if (r < 0)
		return r;
	e->record.environment_kept = request.kept;
	e->record.environment_removed = request.removed;
	r = check_child(e, fds->fd[0], peer, &e->leader, failure);
	if (r == 0 && e->owner.member)
		r = take_child(e, fds->fd[0], e->leader, failure);
	if (r < 0)
		return r;
	r = enforcement_label(e->daemon->enforcement, e->slot, fds->fd[0]);
	if (r < 0)
		return failure_set(failure, r, "process %d cannot be labelled: %m", e->leader);
	e->state = EXECUTION_LIVE;
	e->start = clock_nsec(CLOCK_BOOTTIME);
	evtimer_del(e->timer);
	r = execution_check_descriptors(e, fds->fd[0], failure);
	if (r == 0)
		r = execution_append_start(e, failure);
	if (r < 0)
		return r;
	r = logs_when_written(e->log, on_start_written, e, &e->writing);
	return r < 0 ? failure_set(failure, r, "%m") : 0;
}
