/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and prepares the child of a command, then starts or aborts it. */
#include "launch/launch.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "launch/child.h"

static int report_read(int fd, struct child_report *ret_report)
{
	ssize_t n;

	do {
		n = read(fd, ret_report, sizeof(*ret_report));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	/* The report is smaller than PIPE_BUF, so that it is written atomically. */
	return n == (ssize_t)sizeof(*ret_report) ? 1 : 0;
}

static int reap(const struct launched *launched, siginfo_t *ret_info)
{
	int r;

	do {
		r = waitid(P_PIDFD, (id_t)launched->pidfd, ret_info, WEXITED);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

static void close_fd(int *fd)
{
	closep(fd);
	*fd = -1;
}

void launch_abort(struct launched *launched)
{
	siginfo_t info;

	close_fd(&launched->go_fd);
	pidfd_send_signal(launched->pidfd, SIGKILL, NULL, 0);
	reap(launched, &info);
	close_fd(&launched->status_fd);
	close_fd(&launched->pidfd);
}

/* Reports which signal killed the held child. */
static int died(struct launched *launched, struct failure *failure)
{
	siginfo_t info = {0};
	int r;

	close_fd(&launched->go_fd);
	r = reap(launched, &info);
	close_fd(&launched->status_fd);
	close_fd(&launched->pidfd);
	if (r < 0 || info.si_code == CLD_EXITED)
		return failure_set(failure, ECHILD, "the held child ended before it could start");
	return failure_set(failure, ECHILD,
			   "the held child was killed by signal %d (%s) before it could start",
			   info.si_status, strsignal(info.si_status));
}

static int step_failure(const struct launch *launch, const struct child_report *report,
			struct failure *failure)
{
	uid_t uid = launch->identity->change ? launch->identity->uid : geteuid();
	int error = report->error;

	switch (report->step) {
	case CHILD_CGROUP:
		return failure_set(failure, error, "cannot move the child into its cgroup: %m");
	case CHILD_STREAMS:
		return failure_set(failure, error, "cannot set the child's standard streams: %m");
	case CHILD_TERMINAL:
		return failure_set(failure, error, "cannot leave the controlling terminal: %m");
	case CHILD_LIMITS:
		return failure_set(failure, error, "cannot set the child's resource limits: %m");
	case CHILD_BOUNDING:
		return failure_set(failure, error,
				   "cannot drop capabilities from the bounding set: %m");
	case CHILD_IDENTITY:
		return failure_set(failure, error, "cannot become user %u, group %u: %m",
				   launch->identity->uid, launch->identity->gid);
	case CHILD_CAPABILITIES:
		return failure_set(failure, error, "cannot drop privileges for good: %m");
	case CHILD_KEYRING:
		return failure_set(failure, error, "cannot leave the session keyring: %m");
	case CHILD_WORKDIR:
		return failure_set(failure, error, "user %u may not enter the work directory: %m%s",
				   uid,
				   uid == 0 ? " (root has no capabilities here: set another "
					      "user with --user)"
					    : "");
	case CHILD_NO_NEW_PRIVS:
		return failure_set(failure, error, "cannot set no_new_privs: %m");
	case CHILD_DESCRIPTORS:
		return failure_set(failure, error, "cannot close inherited descriptors: %m");
	case CHILD_FILTER:
		return failure_set(failure, error, "cannot install the seccomp filter: %m");
	case CHILD_EXEC:
		return failure_set(failure, error, "%s: %m", launch->argv[0]);
	case CHILD_PARENT:
	case CHILD_READY:
		break;
	}
	return failure_set(failure, error, "cannot prepare the child: %m");
}

/* clone3(2) puts the child into its cgroup before its first instruction. */
static pid_t clone_into(int cgroup_fd, int *ret_pidfd)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (__u64)(uintptr_t)ret_pidfd,
		.exit_signal = SIGCHLD,
	};

	if (cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (__u64)cgroup_fd;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* True if the call itself is denied, for example by an old seccomp filter, not its arguments. */
static bool clone3_refused(int error)
{
	return error == ENOSYS || error == EPERM || error == EINVAL || error == E2BIG;
}

static int create(struct child_plan *plan, pid_t *ret_pid, int *ret_pidfd)
{
	int pidfd = -1, error;
	pid_t pid;

	pid = clone_into(plan->launch->cgroup_fd, &pidfd);
	if (pid < 0 && clone3_refused(errno)) {
		plan->join_cgroup = plan->launch->cgroup_fd >= 0;
		pid = fork();
	}
	if (pid < 0)
		return -errno;
	if (pid == 0)
		child_run(plan);
	if (pidfd < 0)
		pidfd = pidfd_open(pid, 0);
	if (pidfd < 0) {
		error = errno;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return -error;
	}
	*ret_pid = pid;
	*ret_pidfd = pidfd;
	return 0;
}

/*
 * Blocks all signals before the child is created, so that none of the parent's handlers runs in the
 * child. The child unblocks them itself.
 */
static int create_blocked(struct child_plan *plan, pid_t *ret_pid, int *ret_pidfd)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	r = create(plan, ret_pid, ret_pidfd);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

int launch_start(const struct launch *launch, struct launched *ret_launched,
		 struct failure *failure)
{
	_cleanup_(closep) int go = -1, child_go = -1, status = -1, child_status = -1;
	struct child_plan plan = {.launch = launch, .parent = getpid()};
	struct launched launched = {.pidfd = -1, .go_fd = -1, .status_fd = -1};
	struct child_report report;
	int fds[2], r;

	/* A socket, because MSG_NOSIGNAL prevents SIGPIPE when it is written. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return failure_set(failure, errno, "cannot make a socket pair: %m");
	go = fds[0];
	child_go = fds[1];
	if (pipe2(fds, O_CLOEXEC) < 0)
		return failure_set(failure, errno, "cannot make a pipe: %m");
	status = fds[0];
	child_status = fds[1];

	plan.go_fd = child_go;
	plan.status_fd = child_status;
	if (launch->signals)
		plan.signals = *launch->signals;
	else
		signal_state_read(&plan.signals);
	r = privileges_prepare(launch->identity, launch->capabilities, &plan.privileges);
	if (r < 0)
		return failure_set(failure, r, "cannot read the capabilities in force: %m");
	r = seccomp_filter_map(launch->filter_fd, &plan.filter);
	if (r < 0) {
		privileges_release(&plan.privileges);
		return failure_set(failure, r, "cannot read the seccomp filter: %m");
	}
	r = create_blocked(&plan, &launched.pid, &launched.pidfd);
	privileges_release(&plan.privileges);
	seccomp_filter_unmap(&plan.filter);
	if (r < 0)
		return failure_set(failure, r, "cannot create a process%s: %m",
				   launch->cgroup_fd >= 0 ? " in its cgroup" : "");

	/* Close the child's ends, because otherwise its death would not be noticed. */
	close_fd(&child_go);
	close_fd(&child_status);
	launched.go_fd = TAKE_FD(go);
	launched.status_fd = TAKE_FD(status);
	r = report_read(launched.status_fd, &report);
	if (r <= 0)
		return died(&launched, failure);
	if (report.step != CHILD_READY) {
		r = step_failure(launch, &report, failure);
		launch_abort(&launched);
		return r;
	}
	*ret_launched = launched;
	return 0;
}

int launch_go(struct launched *launched, struct failure *failure)
{
	struct child_report report;
	int r;

	/* If the child was killed, SIGPIPE would kill this process, too. */
	if (send(launched->go_fd, "g", 1, MSG_NOSIGNAL) != 1)
		return died(launched, failure);
	close_fd(&launched->go_fd);
	r = report_read(launched->status_fd, &report);
	if (r > 0) {
		launch_abort(launched);
		return failure_set(failure, report.error, "%m");
	}
	if (r < 0) {
		launch_abort(launched);
		return failure_set(failure, r, "cannot hear from the child: %m");
	}
	close_fd(&launched->status_fd);
	return 0;
}
