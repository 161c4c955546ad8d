/* SPDX-License-Identifier: Apache-2.0 */
/* Another command of cordon that runs for a call of a tool, and what it writes. */
#include "cli/mcp/job.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "cli/term/exit_status.h"

#define REPORT_FD 3

/* --- in the child ------------------------------------------------------------------------- */

/*
 * Whatever descriptors these are, each comes to its place: first all are put out of the way of the
 * places.
 */
static int place(const int from[REPORT_FD + 1])
{
	int moved[REPORT_FD + 1];

	for (int i = 0; i <= REPORT_FD; i++) {
		moved[i] = fcntl(from[i], F_DUPFD_CLOEXEC, REPORT_FD + 1);
		if (moved[i] < 0)
			return -errno;
	}
	for (int i = 0; i <= REPORT_FD; i++)
		if (dup2(moved[i], i) < 0)
			return -errno;
	return 0;
}

/* What the terminal sends is for the server: it ends its jobs. */
static void become(char *const *argv, const int from[REPORT_FD + 1], pid_t parent)
{
	sigset_t none;

	sigemptyset(&none);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || place(from) < 0)
		_exit(EXIT_NOTHING_RAN);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", argv);
	dprintf(STDERR_FILENO, "cordon: cannot execute /proc/self/exe: %s\n", strerror(errno));
	_exit(EXIT_NOTHING_RAN);
}

/* --- in the server ------------------------------------------------------------------------ */

static int make_pipe(struct job *job, int which, int *ret_write)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	job->stream[which] = ends[0];
	*ret_write = ends[1];
	return fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int start(struct job *job, char *const *argv)
{
	_cleanup_(closep) int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	_cleanup_(closep) int output = -1, errors = -1;
	pid_t self = getpid(), pid;
	int r;

	job->report_fd = memfd_create("cordon-report", MFD_CLOEXEC);
	if (null < 0 || job->report_fd < 0)
		return -errno;
	r = make_pipe(job, JOB_OUTPUT, &output);
	if (r == 0)
		r = make_pipe(job, JOB_ERRORS, &errors);
	if (r < 0)
		return r;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		become(argv, (const int[]){null, output, errors, job->report_fd}, self);
	job->pid = pid;
	job->pidfd = pidfd_open(pid, 0);
	return job->pidfd < 0 ? -errno : 0;
}

int job_start(struct job *job, char *const *argv, size_t limit, struct failure *failure)
{
	int r;

	*job = (struct job)JOB_NONE;
	for (int i = 0; i < JOB_STREAMS; i++)
		job->capture[i].limit = limit;
	r = start(job, argv);
	if (r < 0) {
		job_release(job);
		return failure_set(failure, r, "cannot start another cordon: %m");
	}
	return 0;
}

void job_poll(const struct job *job, struct pollfd polled[JOB_POLLED])
{
	for (int i = 0; i < JOB_STREAMS; i++)
		polled[i] = (struct pollfd){.fd = job->stream[i], .events = POLLIN};
	polled[JOB_STREAMS] = (struct pollfd){.fd = job->pidfd, .events = POLLIN};
}

/* 1: more may be there; 0: not now, or never again. */
static int read_some(struct job *job, int which)
{
	char bytes[16384];
	ssize_t n = read(job->stream[which], bytes, sizeof(bytes));

	if (n > 0)
		return capture_add(&job->capture[which], bytes, (size_t)n) < 0 ? -ENOMEM : 1;
	if (n < 0 && errno == EINTR)
		return 1;
	if (n == 0 || errno != EAGAIN) {
		closep(&job->stream[which]);
		job->stream[which] = -1;
	}
	return 0;
}

/* What was written before its end is there; whoever else holds the pipe is not waited for. */
static int read_rest(struct job *job)
{
	/* Of what goes on being written, no more than a pipe holds. */
	for (int which = 0; which < JOB_STREAMS; which++) {
		for (int i = 0; i < 64 && job->stream[which] >= 0; i++) {
			int r = read_some(job, which);

			if (r < 0)
				return r;
			if (r == 0)
				break;
		}
	}
	return 1;
}

int job_step(struct job *job, const struct pollfd polled[JOB_POLLED])
{
	for (int i = 0; i < JOB_STREAMS; i++)
		if (job->stream[i] >= 0 && polled[i].revents && read_some(job, i) < 0)
			return -ENOMEM;
	if (!polled[JOB_STREAMS].revents || waitpid(job->pid, &job->status, WNOHANG) != job->pid)
		return 0;
	job->pid = 0;
	return read_rest(job);
}

void job_release(struct job *job)
{
	if (job->pid > 0) {
		kill(job->pid, SIGKILL);
		while (waitpid(job->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (int i = 0; i < JOB_STREAMS; i++) {
		closep(&job->stream[i]);
		capture_free(&job->capture[i]);
	}
	closep(&job->pidfd);
	closep(&job->report_fd);
	*job = (struct job)JOB_NONE;
}
