/* SPDX-License-Identifier: Apache-2.0 */
/* What a process of the daemon's without privileges gives up, in the order in which it can. */
#include "daemon/privsep/sandbox.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/call_filter.h"
#include "base/cleanup.h"
#include "base/landlock.h"

/* A kernel without Landlock leaves the rest of the sandbox. */
static int restrict_files(int directory_fd, bool writes)
{
	_cleanup_(landlock_closep) struct landlock landlock = {.fd = -1};
	int r = landlock_new(true, &landlock);

	if (r == 0 && writes)
		r = landlock_allow_beneath(&landlock, directory_fd, landlock_writing(&landlock));
	return r < 0 ? r : landlock_enter(&landlock);
}

static int restrict_calls(const struct sandbox *sandbox)
{
	_cleanup_(call_filter_freep) scmp_filter_ctx filter = NULL;
	int r = call_filter_new(sandbox->calls, &filter);

	if (r == 0 && sandbox->threads)
		r = call_filter_allow_threads(filter);
	return r < 0 ? r : seccomp_load(filter);
}

static int limit(__rlimit_resource_t resource, rlim_t value)
{
	const struct rlimit limits = {value, value};

	return setrlimit(resource, &limits) < 0 ? -errno : 0;
}

static int become(uid_t uid, gid_t gid)
{
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	/* That took the capabilities as well; it would not for a user id of 0. */
	return geteuid() == 0 || setuid(0) == 0 ? -EPERM : 0;
}

int sandbox_enter(const struct sandbox *sandbox, struct failure *failure)
{
	int r;

	if (fchdir(sandbox->root_fd) < 0 || chroot(".") < 0)
		return failure_set(failure, errno, "cannot change the root: %m");
	r = limit(RLIMIT_CORE, 0);
	if (r == 0)
		r = limit(RLIMIT_NOFILE, sandbox->files);
	if (r < 0)
		return failure_set(failure, r, "cannot set limits: %m");
	r = become(sandbox->uid, sandbox->gid);
	if (r < 0)
		return failure_set(failure, r, "cannot become user %u: %m", sandbox->uid);
	/* Changing the user cleared it, but says nothing about the next kernel. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return failure_set(failure, errno, "cannot give up new privileges: %m");
	r = restrict_files(sandbox->root_fd, sandbox->writes);
	if (r < 0)
		return failure_set(failure, r, "cannot restrict itself by Landlock: %m");
	r = restrict_calls(sandbox);
	return r < 0 ? failure_set(failure, r, "cannot install a seccomp filter: %m") : 0;
}
