/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon run: stays as the parent of the command that it has the daemon confine. Up to launch_go()
 * nothing of the command has run, and every failure ends with status 125.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/uuid.h"
#include "cli/run/standard_streams.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/part.h"
#include "cli/term/progress.h"
#include "cli/run/refused_program.h"
#include "cli/run/report_file.h"
#include "cli/run/run_options.h"
#include "cli/run/run_request.h"
#include "cli/run/stdin_pump.h"
#include "cli/run/supervise.h"
#include "control/client.h"
#include "control/connect.h"
#include "launch/environment.h"
#include "launch/launch.h"

/* No reply of the daemon takes that long; a daemon that hangs must not hang its clients. */
#define DAEMON_PATIENCE_SECONDS 120
/* A launch that loses its daemon is tried again: with so many daemons, for so long. */
#define LAUNCHES_MAX	  10
#define LAUNCH_AGAIN_NSEC (60 * NSEC_PER_SEC)
/* Until then a daemon that is being restarted is waited for, before another one is started here. */
#define NEXT_DAEMON_MSEC   3000
#define NEXT_DAEMON_MEMBER 30000
#define DROP_SECONDS	   5
/* Fragments and policies are compiled; emulated machines take longest. */
#define PROPOSAL_SECONDS 20

struct run {
	struct run_options options;
	struct signal_state signals; /* as the caller had them */
	struct failure failure;
	struct run_request request;
	struct report_file report;
	int socket;
	struct client_prepared prepared;
	bool is_prepared;
	struct environment environment;
	int signal_fd;
	struct stdin_pump *pump;
	uint64_t deadline;
	unsigned int launches;
	uint64_t launch_until; /* monotonic clock */
	/* Executions prepared by daemons that died. The next daemon learns that none runs. */
	char dropped[LAUNCHES_MAX][UUID_TEXT_SIZE];
	size_t dropped_count;
};

static void run_release(struct run *run)
{
	closep(&run->socket); /* first: an execution that is still ours ends with it */
	run_options_release(&run->options);
	run_request_release(&run->request);
	report_file_close(&run->report);
	if (run->is_prepared)
		client_prepared_release(&run->prepared);
	environment_release(&run->environment);
	closep(&run->signal_fd);
	if (run->pump)
		stdin_pump_free(run->pump);
}

/* Does all work that needs no daemon, so that its errors are found before one is started. */
static int gather(struct run *run)
{
	int r;

	r = run_request_make(&run->options, &run->request, &run->failure);
	if (r < 0)
		return r;
	if (run->options.report) {
		r = report_file_open(run->options.report, &run->report, &run->failure);
		if (r < 0)
			return r;
	}
	if (!run->request.code.stream)
		return 0;
	r = stdin_pump_new(STDIN_FILENO, &run->pump);
	return r < 0 ? failure_set(&run->failure, r, "cannot hand standard input through: %m") : 0;
}

/* --- the daemon --------------------------------------------------------------------------- */

static int connect_daemon(struct run *run)
{
	struct timeval patience = {.tv_sec = DAEMON_PATIENCE_SECONDS};
	struct progress progress;
	int r;

	progress_begin_counting(&progress, "loading enforcement", "programs");
	r = client_connect_or_start(progress_step, &progress, &run->socket, &run->failure);
	progress_end(&progress);
	if (r < 0)
		return r;
	if (setsockopt(run->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		return failure_set(&run->failure, errno, "cannot set up the connection: %m");
	return 0;
}

/*
 * Reports to the next daemon that dropped launches run nothing. It takes over an execution with a
 * living owner if the label was on its way. Returns 0, or -ECONNRESET if this daemon died, too.
 */
static int tell_dropped(struct run *run)
{
	while (run->dropped_count > 0) {
		const struct client_ended ended = {.id = run->dropped[run->dropped_count - 1],
						   .status = SIGKILL};
		const struct timeval patience = {.tv_sec = DROP_SECONDS};
		_cleanup_(closep) int socket = -1;
		struct client_outcome outcome = {.report_fd = -1};
		int r = client_connect(&socket, NULL);

		if (r == 0 &&
		    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0)
			r = client_ended(socket, &ended, &outcome, NULL);
		if (r == -ENOENT || r == -ECONNREFUSED || r == -ECONNRESET)
			return -ECONNRESET;
		closep(&outcome.report_fd);
		run->dropped_count--;
	}
	return 0;
}

static int prepare(struct run *run)
{
	_cleanup_(freep) char *text = NULL;
	int r;

	r = run_request_send(&run->request, run->socket, &run->prepared, &text, &run->failure);
	run->is_prepared = r == 0;
	/* The daemon's words in full: diagnostics of a policy may be many. */
	if (r < 0 && text) {
		message("%s", text);
		run->failure.text[0] = '\0';
	}
	return r;
}

/* To a person at a terminal; a program finds it in the start record. */
static void say_unresolved(const struct run *run)
{
	char *const *text = run->request.owner.indirections.unresolved;

	for (; text && *text && isatty(STDERR_FILENO); text++)
		message("not protected: %s", *text);
}

/* False also where that cannot be looked at, as by a member. */
static bool shares_mounts(const struct run *run)
{
	struct stat own, daemon;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	char path[64];

	if (getsockopt(run->socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", peer.pid);
	return stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &daemon) == 0 &&
	       own.st_dev == daemon.st_dev && own.st_ino == daemon.st_ino;
}

/* The directory that ${tmp} is, as the daemon made it; the command has this process's mounts. */
static int check_mounts(struct run *run)
{
	struct stat tmp;

	if (stat(run->prepared.tmp, &tmp) == 0 || errno != ENOENT || shares_mounts(run))
		return 0;
	return failure_set(
		&run->failure, EXDEV,
		"cannot run here: this process has a mount namespace of its own (as by "
		"PrivateTmp=), in which the temporary directory %s that the daemon made is "
		"not there. Run it in the host's",
		run->prepared.tmp);
}

/* Waits for the daemon that follows one that has just exited. */
static void await_daemon(void)
{
	const struct timespec pause = {.tv_nsec = 50 * NSEC_PER_MSEC};
	uint64_t msec = geteuid() == 0 ? NEXT_DAEMON_MSEC : NEXT_DAEMON_MEMBER;
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + msec * NSEC_PER_MSEC;

	for (;;) {
		_cleanup_(closep) int fd = -1;

		if (client_connect(&fd, NULL) == 0 || clock_nsec(CLOCK_MONOTONIC) >= end)
			return;
		(void)nanosleep(&pause, NULL);
	}
}

static int make_environment(struct run *run)
{
	struct environment_anchor anchors[3 + RUN_MAX_BINDS];
	struct environment_given given = {.anchors = anchors, .git = &run->request.owner.git};
	size_t count = 0;

	anchors[count++] = (struct environment_anchor){"workdir", run->request.workdir};
	anchors[count++] = (struct environment_anchor){"tmp", run->prepared.tmp};
	if (run->request.home)
		anchors[count++] = (struct environment_anchor){"home", run->request.home};
	for (size_t i = 0; i < run->request.bind_count; i++)
		anchors[count++] = (struct environment_anchor){run->request.bind_names[i],
							       run->request.bind_paths[i]};
	given.anchor_count = count;
	return environment_build(environ, &run->prepared.environment, &given,
				 &run->request.identity, &run->environment, &run->failure);
}

/* --- the end ------------------------------------------------------------------------------ */

static uint64_t timeval_nsec(struct timeval t)
{
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_usec * 1000;
}

/* To a person at a terminal, one line; to a program, nothing. */
static void say_outcome(const struct run *run, const struct client_outcome *outcome)
{
	const char *id = run->prepared.id;

	if (!isatty(STDERR_FILENO))
		return;
	for (char **missing = run->prepared.limits_missing; missing && *missing; missing++)
		message("a limit was not applied on this host: %s", *missing);
	if (outcome->cause == AUDIT_END_TIMEOUT)
		message("timed out and was killed (cordon show %s)", id);
	else if (outcome->cause == AUDIT_END_DENIALS)
		message("was killed: too many accesses were denied (cordon show %s)", id);
	else if (outcome->cause == AUDIT_END_KILLED)
		message("was killed on request (cordon show %s)", id);
	if (outcome->denials)
		message("%" PRIu64 " access%s denied (cordon show %s)", outcome->denials,
			outcome->denials == 1 ? " was" : "es were", id);
	else if (outcome->would_denials)
		message("%" PRIu64 " access%s have been denied (cordon show %s)",
			outcome->would_denials, outcome->would_denials == 1 ? " would" : "es would",
			id);
	if (outcome->attempts)
		message("%" PRIu64 " attempt%s denied by the host's permissions (cordon show %s)",
			outcome->attempts, outcome->attempts == 1 ? " was" : "s were", id);
}

/*
 * Adds a proposal to the report, by the program that compiles policies. The report goes without one
 * if that fails.
 */
static void add_proposal(struct client_outcome *outcome)
{
	static const char *const argv[] = {"cordon", "policy", "propose", "--report", "-", NULL};
	_cleanup_(closep) int fd = memfd_create("cordon-report", MFD_CLOEXEC);

	if (fd >= 0 && part_run(PART_WHOLE, argv, outcome->report_fd, fd, PROPOSAL_SECONDS) == 0 &&
	    lseek(fd, 0, SEEK_SET) == 0) {
		closep(&outcome->report_fd);
		outcome->report_fd = TAKE_FD(fd);
	} else {
		(void)lseek(outcome->report_fd, 0, SEEK_SET);
	}
}

static void take_outcome(struct run *run, struct client_outcome *outcome)
{
	struct failure failure = {};

	if (run->report.fd >= 0 && outcome->denials + outcome->would_denials > 0)
		add_proposal(outcome);
	if (report_file_write(&run->report, outcome->report_fd, &failure) < 0)
		message("%s", failure.text);
	closep(&outcome->report_fd);
	say_outcome(run, outcome);
}

/* Kills all tasks of the cgroup, and waits, for a while, until the kernel reports it empty. */
static void end_alone(struct run *run)
{
	struct timespec pause = {.tv_nsec = 10 * NSEC_PER_MSEC};

	supervise_kill(run->prepared.cgroup_fd);
	for (int i = 0; i < 200; i++) {
		_cleanup_(freep) char *events = NULL;
		size_t size;

		if (io_read_file(run->prepared.cgroup_fd, "cgroup.events", 4096, &events, &size) <
			    0 ||
		    !strstr(events, "populated 1"))
			return;
		nanosleep(&pause, NULL);
	}
}

static int own_status(const struct supervised *end)
{
	return end->overdue ? EXIT_TIMED_OUT : exit_status_of_wait(end->status);
}

/*
 * A command that the daemon ends may exit by itself in the last moment, because its fork is already
 * denied. The daemon's cause then decides the status.
 */
static int told_status(const struct client_outcome *outcome, const struct supervised *end)
{
	switch (outcome->cause) {
	case AUDIT_END_TIMEOUT:
		return EXIT_TIMED_OUT;
	case AUDIT_END_DENIALS:
	case AUDIT_END_KILLED:
		return EXIT_SIGNAL + SIGKILL;
	default:
		return own_status(end);
	}
}

/*
 * The daemon exited, and enforcement went on without it. Kills the remaining tasks of the command.
 * The next daemon gets the data for the end record; it is started here if none runs.
 */
static int finish_elsewhere(struct run *run, const struct supervised *end,
			    struct client_ended *ended)
{
	struct client_outcome outcome;
	struct failure failure = {};
	int r;

	end_alone(run);
	closep(&run->socket);
	run->socket = -1;
	message("the daemon went away during the run, which stayed confined");
	ended->id = run->prepared.id;
	run->failure.text[0] = '\0';
	r = connect_daemon(run);
	if (r < 0)
		message("the run's end is recorded when cordon next starts: %s", run->failure.text);
	if (r == 0)
		r = client_ended(run->socket, ended, &outcome, &failure);
	if (r == 0)
		take_outcome(run, &outcome);
	else if (run->report.fd >= 0)
		message("there is no report of what was denied");
	return r == 0 ? told_status(&outcome, end) : own_status(end);
}

static int finish(struct run *run, const struct supervised *end)
{
	struct client_outcome outcome;
	struct client_ended ended = {
		.status = end->status,
		.user_nsec = timeval_nsec(end->usage.ru_utime),
		.system_nsec = timeval_nsec(end->usage.ru_stime),
	};
	int r = -ECONNRESET;

	if (run->pump && run->request.code.stream)
		ended.have_code =
			stdin_pump_finish(run->pump, ended.code_digest, &ended.code_length) == 0;
	if (!end->daemon_lost)
		r = client_ended(run->socket, &ended, &outcome, &run->failure);
	if (r == -ECONNRESET)
		return finish_elsewhere(run, end, &ended);
	if (r < 0) {
		message("%s", run->failure.text);
		end_alone(run);
		return own_status(end);
	}
	take_outcome(run, &outcome);
	return told_status(&outcome, end);
}

/* Nothing ran: has that recorded, if the daemon still listens. */
static int give_up(struct run *run, int error, int status)
{
	struct client_outcome outcome;

	if (client_abort(run->socket, abs(error), run->failure.text, &outcome, NULL) == 0) {
		if (outcome.cause == AUDIT_END_TIMEOUT)
			status = EXIT_TIMED_OUT;
		take_outcome(run, &outcome);
	}
	return status;
}

/* The next daemon may have removed the prepared execution before it could be used. */
static bool daemon_is_gone(const struct run *run)
{
	struct pollfd socket = {.fd = run->socket, .events = POLLRDHUP};

	return poll(&socket, 1, 0) > 0 && (socket.revents & (POLLHUP | POLLRDHUP | POLLERR));
}

/* Nothing has run yet, so the next daemon gets the whole request again. */
static bool launch_again(struct run *run, int error)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);

	if (run->launches++ == 0)
		run->launch_until = now + LAUNCH_AGAIN_NSEC;
	if (error != -ECONNRESET || run->launches >= LAUNCHES_MAX || now >= run->launch_until)
		return false;
	closep(&run->socket);
	/* Until there is a command for them, signals end this process. */
	closep(&run->signal_fd);
	run->socket = run->signal_fd = -1;
	(void)sigprocmask(SIG_SETMASK, &run->signals.mask, NULL);
	await_daemon();
	if (run->is_prepared) {
		memcpy(run->dropped[run->dropped_count++], run->prepared.id, UUID_TEXT_SIZE);
		client_prepared_release(&run->prepared);
	}
	run->is_prepared = false;
	environment_release(&run->environment);
	run->environment = (struct environment){};
	run->failure.text[0] = '\0';
	return true;
}

/* --- the run ------------------------------------------------------------------------------ */

/*
 * Gives the command its own streams where they could be opened, and the pump's pipe for code on
 * standard input and for a stream that it would share with `cordon run`.
 */
static int give_streams(struct run *run, const int own[STREAM_COUNT], struct launch *launch)
{
	int r;

	if (!run->pump && streams_share_place(STDIN_FILENO, own)) {
		r = stdin_pump_new(STDIN_FILENO, &run->pump);
		if (r < 0)
			return failure_set(&run->failure, r,
					   "cannot hand standard input through: %m");
	}
	memcpy(launch->streams, own, sizeof(launch->streams));
	if (run->pump)
		launch->streams[STDIN_FILENO] = run->pump->read_fd;
	return 0;
}

static int start(struct run *run, struct launched *ret_child)
{
	struct launch launch = {
		.argv = run->options.argv,
		.environment = run->environment.variables,
		.workdir_fd = run->request.workdir_fd,
		.cgroup_fd = run->prepared.moves ? -1 : run->prepared.cgroup_fd,
		.identity = &run->request.identity,
		.limits = &run->prepared.limits,
		.capabilities = run->prepared.capabilities,
		.keep_descriptors = run->prepared.keep_descriptors,
		.filter_fd = run->prepared.filter_fd,
		.signals = &run->signals,
	};
	int own[STREAM_COUNT], r;

	r = supervise_signals(&run->signal_fd);
	if (r < 0)
		return failure_set(&run->failure, r, "cannot take over signals: %m");
	streams_open(own);
	r = give_streams(run, own, &launch);
	if (r < 0) {
		streams_close(own);
		return r;
	}
	r = launch_start(&launch, ret_child, &run->failure);
	streams_close(own);
	if (r < 0)
		return r;
	r = client_label(run->socket, ret_child->pidfd, run->environment.kept,
			 run->environment.removed, &run->deadline, &run->failure);
	if (r < 0)
		launch_abort(ret_child);
	return r;
}

static int supervise_run(struct run *run, struct launched *child)
{
	struct supervision supervision = {
		.pid = child->pid,
		.pidfd = child->pidfd,
		.cgroup_fd = run->prepared.cgroup_fd,
		.socket = run->socket,
		.deadline = run->deadline,
		.signal_fd = run->signal_fd,
		.asks = run->prepared.asks,
		.pump = run->pump,
	};
	struct supervised end;
	int r;

	r = supervise(&supervision, &end);
	closep(&child->pidfd);
	if (r < 0) {
		/* The connection closes at the exit, and the daemon then ends the execution. */
		failure_set(&run->failure, r,
			    "cannot watch over the command, so it was killed: %m");
		message("%s", run->failure.text);
		return EXIT_NOTHING_RAN;
	}
	return finish(run, &end);
}

static void say_not_executed(const struct run *run, int error)
{
	const char *program = run->options.argv[0];
	_cleanup_(freep) char *text =
		error == -EACCES ? refused_program_text(program, getenv("PATH")) : NULL;

	if (text)
		message("%s", text);
	else
		message("%s: %s", program, error == -ENOENT ? "not found" : run->failure.text);
}

static int run_command(struct run *run);

static int execute(struct run *run)
{
	struct launched child;
	int r;

	r = start(run, &child);
	if (r < 0 && launch_again(run, daemon_is_gone(run) ? -ECONNRESET : r))
		return run_command(run);
	if (r < 0) {
		message("%s", run->failure.text);
		return give_up(run, r, EXIT_NOTHING_RAN);
	}
	if (run->pump)
		stdin_pump_started(run->pump);
	r = launch_go(&child, &run->failure);
	if (r == -ECHILD) {
		message("%s", run->failure.text);
		return give_up(run, r, EXIT_NOTHING_RAN);
	}
	if (r < 0) {
		say_not_executed(run, r);
		return give_up(run, r, exit_status_of_exec(r));
	}
	return supervise_run(run, &child);
}

static int run_command(struct run *run)
{
	int r;

	do {
		r = connect_daemon(run);
		if (r == 0)
			r = tell_dropped(run);
		if (r == 0)
			r = prepare(run);
	} while (r < 0 && launch_again(run, r));
	if (r == 0) {
		say_unresolved(run);
		r = check_mounts(run);
		if (r == 0)
			r = make_environment(run);
		if (r < 0) {
			message("%s", run->failure.text);
			return give_up(run, r, EXIT_NOTHING_RAN);
		}
		return execute(run);
	}
	if (run->failure.text[0])
		message("%s", run->failure.text);
	report_file_discard(&run->report);
	return EXIT_NOTHING_RAN;
}

int cmd_run(int argc, char **argv)
{
	_cleanup_(run_release) struct run run = {
		.report = REPORT_FILE_NONE,
		.socket = -1,
		.signal_fd = -1,
	};
	struct sigaction reap_children = {.sa_handler = SIG_DFL};
	int r;

	run_request_init(&run.request);
	signal_state_read(&run.signals);
	/* Where a caller ignores SIGCHLD, children vanish without a status. */
	sigaction(SIGCHLD, &reap_children, NULL);
	r = run_options_parse(argc, argv, &run.options, &run.failure);
	if (r < 0) {
		message("%s", run.failure.text);
		return EXIT_NOTHING_RAN;
	}
	if (run.options.help) {
		fputs(run_help, stdout);
		return 0;
	}
	if (run.options.no_input && standard_streams_leave_input() < 0) {
		message("cannot open /dev/null for standard input: %m");
		return EXIT_NOTHING_RAN;
	}
	r = gather(&run);
	if (r == 0)
		return run_command(&run);
	message("%s", run.failure.text);
	report_file_discard(&run.report);
	return EXIT_NOTHING_RAN;
}
