/* SPDX-License-Identifier: Apache-2.0 */
/* What the child does between its creation and the exec of the command. */
#include "launch/child.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/keyctl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "launch/program_path.h"
#include "launch/resource.h"

static _Noreturn void report_and_exit(const struct child_plan *plan, enum child_step step,
				      int error)
{
	struct child_report report = {.step = step, .error = abs(error)};

	/* If this fails there is nobody left to tell. */
	if (write(plan->status_fd, &report, sizeof(report)) < 0)
		_exit(1);
	_exit(1);
}

static void require(const struct child_plan *plan, enum child_step step, int r)
{
	if (r < 0)
		report_and_exit(plan, step, r);
}

/* The held child must not outlive its parent, which alone can release or end it. */
static int die_with_parent(const struct child_plan *plan)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	/* It may have died before it could be noticed. */
	if (getppid() != plan->parent)
		return -ESRCH;
	/*
	 * Nobody of the same uid may trace it or open its memory and descriptors before it has its
	 * label; the exec makes it an ordinary process.
	 */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

static int join_cgroup(const struct child_plan *plan)
{
	int fd = openat(plan->launch->cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, "0", 1) < 0 ? -errno : 0;
}

static int take_streams(const struct launch *launch)
{
	for (int fd = 0; fd < STREAM_COUNT; fd++)
		if (launch->streams[fd] >= 0 && dup2(launch->streams[fd], fd) < 0)
			return -errno;
	return 0;
}

/*
 * The session keyring of the host may hold its Kerberos tickets and file system keys. Where the
 * kernel has no keyrings, or a filter keeps them from us, the child cannot reach them either.
 */
static int leave_keyring(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS &&
	    errno != EPERM)
		return -errno;
	return 0;
}

static int close_between(unsigned int first, unsigned int last)
{
	if (first > last)
		return 0;
	return syscall(SYS_close_range, first, last, 0) < 0 ? -errno : 0;
}

/*
 * All but standard input, output, error and the two that lead to the parent, unless they are to
 * stay.
 */
static int close_descriptors(const struct child_plan *plan)
{
	unsigned int low = (unsigned int)plan->go_fd, high = (unsigned int)plan->status_fd;
	int r;

	if (plan->launch->keep_descriptors)
		return 0;
	if (low > high) {
		low = (unsigned int)plan->status_fd;
		high = (unsigned int)plan->go_fd;
	}
	r = close_between(3, low - 1);
	if (r == 0)
		r = close_between(low + 1, high - 1);
	if (r == 0)
		r = close_between(high + 1, ~0U);
	return r;
}

/*
 * The order matters:
 * first what binds its life to the parent's;
 * the streams, and the terminal if none of them leads to it;
 * limits, bounding set and identity while there is the privilege to set them;
 * the work directory as whom the command will run, so that a directory which that user may not
 * enter is an error here and not a riddle in the command;
 * PDEATHSIG and the dumpable flag again, because a change of identity resets both;
 * the descriptors when none of them is needed any more;
 * the filter last: what comes before may need what it refuses.
 */
static void prepare(const struct child_plan *plan)
{
	const struct launch *launch = plan->launch;

	require(plan, CHILD_PARENT, die_with_parent(plan));
	signal_state_restore_dispositions(&plan->signals);
	if (plan->join_cgroup)
		require(plan, CHILD_CGROUP, join_cgroup(plan));
	require(plan, CHILD_STREAMS, take_streams(launch));
	require(plan, CHILD_TERMINAL, streams_leave_terminal());
	require(plan, CHILD_LIMITS, resource_limits_apply(launch->limits));
	require(plan, CHILD_BOUNDING, privileges_drop_bounding(&plan->privileges));
	require(plan, CHILD_IDENTITY, privileges_set_identity(&plan->privileges));
	require(plan, CHILD_CAPABILITIES, privileges_set_capabilities(&plan->privileges));
	require(plan, CHILD_KEYRING, leave_keyring());
	if (fchdir(launch->workdir_fd) < 0)
		report_and_exit(plan, CHILD_WORKDIR, errno);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		report_and_exit(plan, CHILD_NO_NEW_PRIVS, errno);
	require(plan, CHILD_PARENT, die_with_parent(plan));
	require(plan, CHILD_DESCRIPTORS, close_descriptors(plan));
	require(plan, CHILD_FILTER, seccomp_filter_install(&plan->filter));
	if (plan->filter.filter && (launch->keep_descriptors || streams_append()))
		require(plan, CHILD_FILTER, seccomp_keep_appending());
}

/* End of file without a byte: the parent has given up, or is dead. */
static void wait_for_go(const struct child_plan *plan)
{
	struct child_report ready = {.step = CHILD_READY};
	ssize_t n;
	char go;

	if (write(plan->status_fd, &ready, sizeof(ready)) != (ssize_t)sizeof(ready))
		_exit(1);
	do {
		n = read(plan->go_fd, &go, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(1);
}

/*
 * execvp(3) hands a text without "#!" to /bin/sh, as shells and env(1) do. It is not left to look
 * into PATH where there is a program: an exec that finds nothing costs ten times such a look, and
 * where the policy refuses the first program another one of its name would run.
 */
static void execute(const struct launch *launch)
{
	const char *found;
	char room[4096];

	environ = (char **)launch->environment;
	found = program_path_find(launch->argv[0], getenv("PATH"), room, sizeof(room));
	execvp(found ? found : launch->argv[0], launch->argv);
}

_Noreturn void child_run(const struct child_plan *plan)
{
	const struct launch *launch = plan->launch;

	prepare(plan);
	wait_for_go(plan);
	/* A signal that was sent meanwhile takes effect here, as it would on the command. */
	sigprocmask(SIG_SETMASK, &plan->signals.mask, NULL);
	execute(launch);
	report_and_exit(plan, CHILD_EXEC, errno);
}
