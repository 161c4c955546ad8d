/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the child between its creation and the exec of the command. */
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

	/* If this fails, the status cannot be reported. */
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
	/* The parent may have died before the prctl call. */
	if (getppid() != plan->parent)
		return -ESRCH;
	/*
	 * No task of the same uid may trace the child or open its memory and descriptors before it
	 * has its label. The exec makes it dumpable again.
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
 * The host's session keyring may hold Kerberos tickets and file system keys. If the kernel has no
 * keyrings, or a filter denies the call, the child has no access to them either.
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
 * Closes all descriptors except standard streams and the two to the parent, unless they are kept.
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
 * - first bind the child's life to the parent's, because only the parent can end it;
 * - streams before the terminal, which is left unless a stream refers to it;
 * - limits, bounding set and identity while the child has the privilege to set them;
 * - the work directory with the command's identity, so that a missing permission is reported here;
 * - PDEATHSIG and the dumpable flag again, because a change of identity resets both;
 * - descriptors when none of them is needed any more;
 * - the filter last, because earlier steps may need calls that it denies.
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

/* End of file without a byte: the parent aborts the launch, or is dead. */
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
 * execvp(3) runs a script without "#!" with /bin/sh, as shells and env(1) do. The search in PATH is
 * done before, because a failing exec is ten times slower than access(2). It also prevents that
 * execvp(3) runs a later program of the same name if the policy denies the first.
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
	/* A signal received meanwhile takes effect here, as it would on the command. */
	sigprocmask(SIG_SETMASK, &plan->signals.mask, NULL);
	execute(launch);
	report_and_exit(plan, CHILD_EXEC, errno);
}
