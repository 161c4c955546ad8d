/* SPDX-License-Identifier: Apache-2.0 */
/* Takes an execution over that an earlier daemon began and that still runs. */
#include "daemon/execution/resume.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/execution/asking.h"
#include "daemon/execution/deadline.h"
#include "daemon/execution/ending.h"
#include "daemon/execution/label.h"
#include "daemon/execution/recovery_work.h"
#include "daemon/host/pid_event.h"
#include "daemon/host/process.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/errand.h"

/* Without it a directory that replaces it may get its identity: its generation tells them apart. */
#define WORKDIR_SECONDS 10

static void on_owner_gone(evutil_socket_t fd, short what, void *context)
{
	TURN("owner");
	struct execution *e = context;

	(void)fd;
	(void)what;
	pid_event_free(&e->owner.event);
	ending_owner_gone(e);
}

/* It has no connection to close when it dies. */
static int watch_owner(struct execution *e)
{
	_cleanup_(closep) int fd = pidfd_open(e->owner.pid, 0);

	if (fd < 0)
		return -errno;
	/* The number was its own before and after. */
	if (!process_alive(e->owner.pid, e->owner.start))
		return -ESRCH;
	return pid_event_new(e->daemon->base, &fd, on_owner_gone, e, &e->owner.event);
}

int resume_policy(struct execution *e)
{
	unsigned char digest[32];
	int r;

	if (e->policy)
		return 0;
	if (!e->recovered_policy || !e->recovered_policy->tables)
		return -EBADMSG;
	r = enforcement_policy_digest(e->daemon->enforcement, e->view->policy, digest);
	if (r < 0 || memcmp(digest, e->recovered_policy->digest, sizeof(digest)) != 0)
		return -EBADMSG;
	r = policies_resume(e->daemon->policies, e->recovered_policy, e->view->policy, &e->policy);
	if (r < 0)
		return r;
	e->recovered_policy = NULL;
	e->record.policy = e->policy->policy;
	return 0;
}

/*
 * Holds a directory where it still is: as long as it is held, no other directory can get its
 * identity. Takes the descriptor over.
 */
static void hold(struct execution *e, int anchor, int taken)
{
	_cleanup_(closep) int fd = taken;
	struct cordon_anchor found;

	if (fd >= 0 && enforcement_identify(e->daemon->enforcement, fd, &found) == 0 &&
	    memcmp(&found, &e->view->anchors[anchor], sizeof(found)) == 0)
		e->directories[e->directory_count++] = TAKE_FD(fd);
}

/* In a process of its own. */
static int open_workdir(const void *context, FILE *to, struct errand_fds *fds,
			struct failure *failure)
{
	const struct execution *e = context;

	(void)to;
	fds->fd[0] = open(e->record.workdir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fds->fd[0] < 0 ? failure_set(failure, errno, "%m") : 0;
}

static void on_workdir(void *context, int result, const char *data, size_t size,
		       struct errand_fds *fds, const struct failure *failure)
{
	struct execution *e = context;

	(void)data;
	(void)size;
	(void)failure;
	e->holding = NULL;
	if (result == 0)
		hold(e, CORDON_ANCHOR_WORKDIR, TAKE_FD(fds->fd[0]));
}

/*
 * Its tasks' current directories keep it in the kernel's caches, mostly. Else its file system may
 * not answer.
 */
static void hold_workdir(struct execution *e)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_CACHED};
	const struct errand_job job = {
		.what = "what opens a work directory",
		.uid = RECOVERY_UID_WORKDIR,
		.seconds = WORKDIR_SECONDS,
		.work = open_workdir,
		.done = on_workdir,
		.context = e,
	};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, e->record.workdir, &how, sizeof(how));

	if (fd < 0 && errno == EAGAIN)
		(void)errand_start(e->daemon->base, &job, &e->holding, NULL);
	hold(e, CORDON_ANCHOR_WORKDIR, fd);
}

static void hold_directories(struct execution *e)
{
	char tmp[sizeof(DAEMON_TMP_PARENT "/") + sizeof(e->name)];

	snprintf(tmp, sizeof(tmp), DAEMON_TMP_PARENT "/%s", e->name);
	hold(e, CORDON_ANCHOR_TMP, open(tmp, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	hold_workdir(e);
}

int resume(struct execution *e)
{
	int r;

	if (e->view->state != CORDON_EXECUTION_LIVE || !e->started || !e->log)
		return -ENOENT;
	r = watch_owner(e);
	if (r < 0)
		return r;
	e->resumed = true;
	/* The start record was the last thing that the earlier daemon did. */
	if (e->start == 0)
		e->start = e->view->deadline ? e->view->deadline - e->record.limits.wall_nsec
					     : clock_nsec(CLOCK_BOOTTIME);
	deadline_start(e);
	hold_directories(e);
	return 0;
}

void resume_asking(struct execution *e)
{
	asking_start(e);
}
