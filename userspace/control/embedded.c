/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the embedded daemon, or joins the one that another `cordon run` has started. */
#include "control/embedded.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"

/* Loading takes a second or two; on a loaded or emulated machine much more. */
#define START_TIMEOUT_SECONDS 600

/*
 * --- in the new process, between fork and exec: it takes nothing over from who happened to start
 * it
 */

static void forget_signals(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		(void)sigaction(s, &action, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A limit meant for a command must not end the daemon that others share. */
static void forget_limits(void)
{
	static const __rlimit_resource_t lifted[] = {RLIMIT_CPU,   RLIMIT_FSIZE,  RLIMIT_AS,
						     RLIMIT_DATA,  RLIMIT_STACK,  RLIMIT_RSS,
						     RLIMIT_NPROC, RLIMIT_MEMLOCK};
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	const struct rlimit stack = {8u << 20, RLIM_INFINITY};
	struct rlimit files;

	for (size_t i = 0; i < ARRAY_SIZE(lifted); i++)
		(void)setrlimit(lifted[i], lifted[i] == RLIMIT_STACK ? &stack : &unlimited);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	(void)setpriority(PRIO_PROCESS, 0, 0);
}

static _Noreturn void become_daemon(int pipe_fd)
{
	char *const argv[] = {(char[]){"cordon"}, (char[]){"daemon"}, (char[]){"--embedded"}, NULL};
	char *const environment[] = {
		(char[]){"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		(char[]){"LC_ALL=C.UTF-8"},
		NULL,
	};
	int null_fd;

	forget_signals();
	forget_limits();
	umask(022);
	null_fd = open("/dev/null", O_RDWR);
	if (chdir("/") < 0 || null_fd < 0 || dup2(pipe_fd, EMBEDDED_PIPE_FD) < 0 ||
	    dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDOUT_FILENO) < 0 ||
	    dup2(null_fd, STDERR_FILENO) < 0 || close_range(EMBEDDED_PIPE_FD + 1, ~0u, 0) < 0)
		_exit(EXIT_FAILURE);
	/* dup2() onto itself would leave the flag. */
	(void)fcntl(EMBEDDED_PIPE_FD, F_SETFD, 0);
	execve("/proc/self/exe", argv, environment);
	embedded_report(EMBEDDED_PIPE_FD, EMBEDDED_FAILED, "cannot execute /proc/self/exe");
	_exit(EXIT_FAILURE);
}

/* --- in the starter ----------------------------------------------------------------------- */

/* Two forks: the daemon belongs to init, not to whoever happened to start it. */
static int spawn(int pipe_fd, struct failure *failure)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return failure_set(failure, errno, "cannot fork to start the cordon daemon: %m");
	if (child == 0) {
		pid_t daemon = setsid() < 0 ? -1 : fork();

		if (daemon == 0)
			become_daemon(pipe_fd);
		_exit(daemon < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	while (waitpid(child, &status, 0) < 0) {
		/* A caller that ignores SIGCHLD has no status to give; the pipe will tell. */
		if (errno == ECHILD)
			return 0;
		if (errno != EINTR)
			return failure_set(failure, errno, "cannot start the cordon daemon: %m");
	}
	if (status != 0)
		return failure_set(failure, EAGAIN, "cannot fork to start the cordon daemon");
	return 0;
}

struct listener {
	embedded_step *step;
	void *data;
};

/* Tells of the steps at the beginning of the text and takes them out; what is left of it. */
static size_t take_steps(const struct listener *listener, char *text, size_t length)
{
	char *end;

	text[length] = '\0';
	while (text[0] == EMBEDDED_STEP && (end = strchr(text, '\n'))) {
		uint64_t done, all;

		if (listener->step && sscanf(text + 1, "%" SCNu64 " %" SCNu64, &done, &all) == 2)
			listener->step(listener->data, done, all);
		length -= (size_t)(end + 1 - text);
		memmove(text, end + 1, length + 1);
	}
	return length;
}

/* The outcome: what the daemon says until it closes the pipe, or what came in time. */
static size_t hear(const struct listener *listener, int fd, char *text, size_t size)
{
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + START_TIMEOUT_SECONDS * NSEC_PER_SEC;
	size_t length = 0;

	while (length < size - 1) {
		uint64_t now = clock_nsec(CLOCK_MONOTONIC);
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		ssize_t n;

		if (now >= end)
			break;
		if (poll(&wait, 1, (int)((end - now) / NSEC_PER_MSEC) + 1) <= 0)
			continue;
		n = read(fd, text + length, size - 1 - length);
		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		length = take_steps(listener, text, length + (n > 0 ? (size_t)n : 0));
	}
	text[length] = '\0';
	return length;
}

int embedded_start(embedded_step *step, void *data, struct failure *failure)
{
	const struct listener listener = {step, data};
	_cleanup_(closep) int read_fd = -1, write_fd = -1;
	char text[1024];
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return failure_set(failure, errno, "cannot make a pipe: %m");
	read_fd = ends[0];
	write_fd = ends[1];
	r = spawn(write_fd, failure);
	if (r < 0)
		return r;
	closep(&write_fd);
	write_fd = -1;
	if (hear(&listener, read_fd, text, sizeof(text)) == 0)
		return failure_set(failure, EIO,
				   "the cordon daemon ended or hung while it started; run `cordon "
				   "doctor`, and see agent.log in the log directory");
	if (text[0] == EMBEDDED_READY)
		return 0;
	if (text[0] == EMBEDDED_BUSY)
		return -EBUSY;
	return failure_set(failure, EIO, "%s", text + 1);
}

void embedded_tell(int pipe_fd, uint64_t done, uint64_t all)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "%c%" PRIu64 " %" PRIu64 "\n", EMBEDDED_STEP,
			      done, all);

	/* Nobody may be listening any more. */
	(void)io_write_all(pipe_fd, line, (size_t)length);
}

void embedded_report(int pipe_fd, char outcome, const char *text)
{
	char message[1024];
	int length = snprintf(message, sizeof(message), "%c%s", outcome, text);

	if (length >= (int)sizeof(message))
		length = sizeof(message) - 1;
	/* Nobody may be listening any more. */
	(void)io_write_all(pipe_fd, message, (size_t)length);
	close(pipe_fd);
}
