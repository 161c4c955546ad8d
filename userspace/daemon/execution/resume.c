/* SPDX-License-Identifier: Apache-2.0 */
/* Takes an execution over that an earlier daemon began and that still runs. */
#include "daemon/execution/resume.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/execution/asking.h"
#include "daemon/execution/deadline.h"
#include "daemon/execution/ending.h"
#include "daemon/execution/label.h"
#include "daemon/host/pid_event.h"
#include "daemon/host/process.h"
#include "daemon/host/turn.h"

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

/* Where it still is: as long as it is held, no other directory can get its identity. */
static void hold_directory(struct execution *e, int anchor, const char *path)
{
	_cleanup_(closep) int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct cordon_anchor found;

	if (fd >= 0 && enforcement_identify(e->daemon->enforcement, fd, &found) == 0 &&
	    memcmp(&found, &e->view->anchors[anchor], sizeof(found)) == 0)
		e->directories[e->directory_count++] = TAKE_FD(fd);
}

static void hold_directories(struct execution *e)
{
	char tmp[sizeof(DAEMON_TMP_PARENT "/") + sizeof(e->name)];

	snprintf(tmp, sizeof(tmp), DAEMON_TMP_PARENT "/%s", e->name);
	hold_directory(e, CORDON_ANCHOR_TMP, tmp);
	hold_directory(e, CORDON_ANCHOR_WORKDIR, e->record.workdir);
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
	asking_start(e);
	hold_directories(e);
	return 0;
}
