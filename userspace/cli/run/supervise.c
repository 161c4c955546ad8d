/* SPDX-License-Identifier: Apache-2.0 */
/* Passes signals, stops and input on to the command, and notices its end. */
#include "cli/run/supervise.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/io.h"

/* The daemon kills at the deadline. That it has not done so is certain after this long. */
#define DEADLINE_GRACE_NSEC NSEC_PER_SEC

/* Sent to a process by an error of its own: blocked, they would be fatal or lost. */
static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

int supervise_signals(int *ret_signal_fd)
{
	sigset_t set;
	int fd;

	sigfillset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(synchronous); i++)
		sigdelset(&set, synchronous[i]);
	/*
	 * Dispositions stay: a blocked signal is queued even where it is ignored. Reading from the
	 * descriptor takes it out of the queue before it could act.
	 */
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	*ret_signal_fd = fd;
	return 0;
}

int supervise_kill(int cgroup_fd)
{
	return io_write_file(cgroup_fd, "cgroup.kill", "1");
}

struct state {
	const struct supervision *with;
	struct supervised result;
	bool ended;
	bool follows_stops;
};

/* --- signals ------------------------------------------------------------------------------ */

/*
 * What the kernel sends for the terminal (SI_KERNEL) goes to the whole process group, the command
 * included; only that the terminal has hung up it tells the session's leader alone. What a process
 * has sent to us is meant for the command.
 */
static bool is_for_command(const struct signalfd_siginfo *info)
{
	if (info->ssi_signo == SIGCHLD || (pid_t)info->ssi_pid == getpid())
		return false;
	if (info->ssi_code == SI_KERNEL)
		return (info->ssi_signo == SIGHUP || info->ssi_signo == SIGCONT) &&
		       getsid(0) == getpid();
	return info->ssi_code == SI_USER || info->ssi_code == SI_QUEUE ||
	       info->ssi_code == SI_TKILL;
}

static struct itimerspec when_overdue(uint64_t deadline)
{
	uint64_t at = deadline + DEADLINE_GRACE_NSEC;

	return (struct itimerspec){
		.it_value = {.tv_sec = (time_t)(at / NSEC_PER_SEC),
			     .tv_nsec = (long)(at % NSEC_PER_SEC)},
	};
}

/*
 * A command may stop itself, and us with it, to be waited for without end. This continues us when
 * its time is up; timers run while a process is stopped.
 */
static bool wake_when_overdue(uint64_t deadline, timer_t *ret_timer)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
	struct itimerspec when = when_overdue(deadline);

	if (deadline == 0 || timer_create(CLOCK_BOOTTIME, &event, ret_timer) < 0)
		return false;
	timer_settime(*ret_timer, TIMER_ABSTIME, &when, NULL);
	return true;
}

static void raise_default(int signal)
{
	struct sigaction action = {.sa_handler = SIG_DFL}, before;
	sigset_t set;

	if (signal == SIGSTOP) {
		raise(SIGSTOP);
		return;
	}
	sigaction(signal, &action, &before);
	sigemptyset(&set);
	sigaddset(&set, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(signal, &before, NULL);
}

/*
 * Stops this process as the command was stopped, so that the shell sees its job stopped. Returns
 * when it is continued; the SIGCONT then waits in the queue and is passed on.
 */
static void stop_like(int signal, uint64_t deadline)
{
	timer_t timer;
	bool wakes = wake_when_overdue(deadline, &timer);

	raise_default(signal);
	if (wakes)
		timer_delete(timer);
}

static void reap(struct state *state)
{
	struct rusage usage;
	int status;

	for (;;) {
		pid_t pid = wait4(state->with->pid, &status, WNOHANG | WUNTRACED, &usage);

		if (pid <= 0)
			return;
		if (!WIFSTOPPED(status)) {
			state->result.status = status;
			state->result.usage = usage;
			state->ended = true;
			return;
		}
		if (state->follows_stops && !(state->with->asks && WSTOPSIG(status) == SIGSTOP))
			stop_like(WSTOPSIG(status), state->with->deadline);
	}
}

static void take_signals(struct state *state)
{
	struct signalfd_siginfo info;

	while (read(state->with->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (is_for_command(&info))
			pidfd_send_signal(state->with->pidfd, (int)info.ssi_signo, NULL, 0);
	}
	/* Several SIGCHLD may have become one, so ask rather than count. */
	reap(state);
}

/* --- the deadline ------------------------------------------------------------------------- */

static int deadline_timer(uint64_t deadline, int *ret_fd)
{
	struct itimerspec when = when_overdue(deadline);
	_cleanup_(closep) int fd = -1;

	if (deadline == 0)
		return 0;
	fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd < 0 || timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static void kill_all(const struct supervision *with)
{
	supervise_kill(with->cgroup_fd);
	/* The cgroup may be gone or too old to kill; the command itself dies in any case. */
	pidfd_send_signal(with->pidfd, SIGKILL, NULL, 0);
}

/* ------------------------------------------------------------------------------------------ */

enum { WATCH_SIGNALS, WATCH_DAEMON, WATCH_DEADLINE, WATCH_PUMP, WATCH_COUNT };

static int loop(struct state *state, int timer)
{
	const struct supervision *with = state->with;
	struct pollfd watched[WATCH_COUNT] = {
		[WATCH_SIGNALS] = {.fd = with->signal_fd, .events = POLLIN},
		[WATCH_DAEMON] = {.fd = with->socket}, /* POLLHUP always comes */
		[WATCH_DEADLINE] = {.fd = timer, .events = POLLIN},
		[WATCH_PUMP] = {.fd = -1},
	};

	while (!state->ended) {
		if (with->pump)
			watched[WATCH_PUMP] = stdin_pump_wants(with->pump);
		if (poll(watched, ARRAY_SIZE(watched), -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (watched[WATCH_DEADLINE].revents) {
			state->result.overdue = true;
			watched[WATCH_DEADLINE].fd = -1;
			kill_all(with);
		}
		if (watched[WATCH_DAEMON].revents) {
			state->result.daemon_lost = true;
			watched[WATCH_DAEMON].fd = -1;
		}
		if (watched[WATCH_PUMP].revents)
			stdin_pump_move(with->pump);
		if (watched[WATCH_SIGNALS].revents)
			take_signals(state);
	}
	return 0;
}

/*
 * Without a controlling terminal there is no shell to continue us: a command that stops itself
 * would stop its deadline's second guard and whoever waits for us.
 */
static bool has_terminal(void)
{
	_cleanup_(closep) int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd >= 0;
}

int supervise(const struct supervision *supervision, struct supervised *ret_supervised)
{
	struct state state = {.with = supervision, .follows_stops = has_terminal()};
	_cleanup_(closep) int timer = -1;
	int r;

	r = deadline_timer(supervision->deadline, &timer);
	if (r == 0)
		/* Its SIGCHLD may have come before the first poll and is in the queue then. */
		r = loop(&state, timer);
	if (r < 0) {
		kill_all(supervision);
		waitpid(supervision->pid, NULL, 0);
		return r;
	}
	*ret_supervised = state.result;
	return 0;
}
