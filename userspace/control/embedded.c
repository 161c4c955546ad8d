/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the embedded daemon, or waits for one that another `cordon run` has started. */
#include "control/embedded.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"

/* Loading takes a second or two; on a busy or emulated machine much more. */
#define START_TIMEOUT_SECONDS 600

/* --- in the new process, between fork and exec: reset everything inherited from the starter */

static void forget_signals(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		(void)sigaction(s, &action, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A limit meant for one command must not end the shared daemon. */
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
}

/* The initial namespaces have fixed numbers: PROC_PID_INIT_INO and others, linux/proc_ns.h. */
#define FIRST_USER_NAMESPACE 0xeffffffdu
#define FIRST_PID_NAMESPACE  0xeffffffcu

static int namespace_of(const char *process, const char *kind, struct stat *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, kind);
	return stat(path, ret) < 0 ? -errno : 0;
}

static int check_first(const char *kind, const char *name, ino_t number, struct failure *failure)
{
	struct stat own = {};
	int r = namespace_of("self", kind, &own);

	if (r < 0)
		return failure_set(failure, r, "cannot look at the %s namespace: %m", name);
	return own.st_ino == number
		       ? 0
		       : failure_set(
				 failure, EPERM,
				 "cannot start a daemon from a separate %s namespace, which the "
				 "host's would not know: start it on the host (systemctl start "
				 "cordon)",
				 name);
}

/* If this process is already in process 1's namespace, as usual, no permission is needed. */
static int join(const char *kind, int type, struct failure *failure)
{
	struct stat own = {}, first = {};
	char path[64];
	int fd, r;

	r = namespace_of("self", kind, &own);
	if (r == -ENOENT)
		return 0; /* this kernel has none */
	if (r == 0)
		r = namespace_of("1", kind, &first);
	if (r < 0)
		return failure_set(failure, r, "cannot look at namespaces (%s): %m", kind);
	if (own.st_dev == first.st_dev && own.st_ino == first.st_ino)
		return 0;
	snprintf(path, sizeof(path), "/proc/1/ns/%s", kind);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = fd < 0 || setns(fd, type) < 0 ? -errno : 0;
	closep(&fd);
	return r < 0 ? failure_set(failure, r,
				   "cannot start a daemon in the host's namespaces (%s): %m; start "
				   "it on the host (systemctl start cordon)",
				   kind)
		     : 0;
}

/*
 * The daemon serves users of the whole host, and therefore needs the host's view: mounts, network
 * and System V objects. Enter the mount namespace last, because /proc is needed until then.
 */
static int join_host(struct failure *failure)
{
	static const struct {
		const char *kind;
		int type;
	} kinds[] = {
		{"cgroup", CLONE_NEWCGROUP}, {"ipc", CLONE_NEWIPC}, {"uts", CLONE_NEWUTS},
		{"net", CLONE_NEWNET},	     {"mnt", CLONE_NEWNS},
	};
	struct stat own = {}, first = {};
	int r = check_first("user", "user", FIRST_USER_NAMESPACE, failure);

	if (r == 0)
		r = check_first("pid", "process", FIRST_PID_NAMESPACE, failure);
	/* The daemon's clocks would differ from the executions' clocks. */
	if (r == 0 && namespace_of("self", "time", &own) == 0 &&
	    namespace_of("1", "time", &first) == 0 && own.st_ino != first.st_ino)
		r = failure_set(failure, EPERM,
				"cannot start a daemon from a separate time namespace: start it on "
				"the host (systemctl start cordon)");
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(kinds); i++)
		r = join(kinds[i].kind, kinds[i].type, failure);
	return r;
}

/* Capabilities dropped from the bounding set cannot be regained. */
static int check_bounding_set(struct failure *failure)
{
	static const int needed[] = {
		CAP_CHOWN,     CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER,
		CAP_KILL,      CAP_SETGID,	 CAP_SETUID,	      CAP_SETPCAP,
		CAP_NET_ADMIN, CAP_SYS_PTRACE,	 CAP_SYS_ADMIN,	      CAP_SYS_RESOURCE,
		CAP_PERFMON,   CAP_BPF,		 CAP_SYS_NICE,	      CAP_SYSLOG,
	};

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (prctl(PR_CAPBSET_READ, needed[i], 0, 0, 0) == 0)
			return failure_set(failure, EPERM,
					   "cannot start a daemon with a reduced bounding set (it "
					   "lacks capability %d): start it on the host (systemctl "
					   "start cordon)",
					   needed[i]);
	return 0;
}

/* Reset the caller's scheduling class and CPU affinity. */
static void forget_scheduling(void)
{
	const struct sched_param none = {};
	unsigned long processors[1024 / sizeof(long)];

	(void)sched_setscheduler(0, SCHED_OTHER, &none);
	(void)setpriority(PRIO_PROCESS, 0, 0);
	/* The kernel reduces this to the processors of the cpuset. */
	memset(processors, 0xff, sizeof(processors));
	(void)syscall(SYS_sched_setaffinity, 0, sizeof(processors), processors);
	/* IOPRIO_WHO_PROCESS, IOPRIO_CLASS_NONE: derived from the scheduling class. */
	(void)syscall(SYS_ioprio_set, 1, 0, 0);
	(void)prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0);
}

static int leave_starter(struct failure *failure)
{
	int r = check_bounding_set(failure);

	forget_signals();
	forget_limits();
	forget_scheduling();
	umask(022);
	return r < 0 ? r : join_host(failure);
}

static _Noreturn void become_daemon(int pipe_fd)
{
	char *const argv[] = {(char[]){"cordon"}, (char[]){"daemon"}, (char[]){"--embedded"}, NULL};
	char *const environment[] = {
		(char[]){"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		(char[]){"LC_ALL=C.UTF-8"},
		NULL,
	};
	struct failure failure = {};
	int null_fd;

	if (leave_starter(&failure) < 0) {
		embedded_report(pipe_fd, EMBEDDED_FAILED, failure.text);
		_exit(EXIT_FAILURE);
	}
	null_fd = open("/dev/null", O_RDWR);
	if (chdir("/") < 0 || null_fd < 0 || dup2(pipe_fd, EMBEDDED_PIPE_FD) < 0 ||
	    dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDOUT_FILENO) < 0 ||
	    dup2(null_fd, STDERR_FILENO) < 0 || close_range(EMBEDDED_PIPE_FD + 1, ~0u, 0) < 0)
		_exit(EXIT_FAILURE);
	/* dup2() of a descriptor to itself would keep the close-on-exec flag. */
	(void)fcntl(EMBEDDED_PIPE_FD, F_SETFD, 0);
	execve("/proc/self/exe", argv, environment);
	embedded_report(EMBEDDED_PIPE_FD, EMBEDDED_FAILED, "cannot execute /proc/self/exe");
	_exit(EXIT_FAILURE);
}

/* --- in the starter ----------------------------------------------------------------------- */

/* Fork twice, so that init becomes the daemon's parent instead of its starter. */
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
		/* If the caller ignores SIGCHLD there is no status; the pipe has the result. */
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

/* Reports the steps at the beginning of the text and removes them. Returns the remaining length. */
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

/*
 * Reads the result: the text that the daemon writes until it closes the pipe, or until the timeout.
 */
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

	/* The starter may have exited. */
	(void)io_write_all(pipe_fd, line, (size_t)length);
}

void embedded_report(int pipe_fd, char outcome, const char *text)
{
	char message[1024];
	int length = snprintf(message, sizeof(message), "%c%s", outcome, text);

	if (length >= (int)sizeof(message))
		length = sizeof(message) - 1;
	/* The starter may have exited. */
	(void)io_write_all(pipe_fd, message, (size_t)length);
	close(pipe_fd);
}
