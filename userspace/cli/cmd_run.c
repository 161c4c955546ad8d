/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon run: stays as the parent of the command that it has the daemon confine. Up to launch_go()
 * nothing of the command has run, and every failure ends with status 125.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "audit/arguments.h"
#include "base/clock.h"
#include "base/io.h"
#include "cli/code.h"
#include "cli/commands.h"
#include "cli/directory.h"
#include "cli/exit_status.h"
#include "cli/message.h"
#include "cli/report_file.h"
#include "cli/run_options.h"
#include "cli/stdin_pump.h"
#include "cli/supervise.h"
#include "daemon/client.h"
#include "launch/environment.h"
#include "launch/identity.h"
#include "launch/launch.h"

/* No answer of the daemon takes that long; one that hangs must not hang its clients. */
#define DAEMON_PATIENCE_SECONDS 120

/* Longer argument lists are recorded by digest alone: a request has to fit into one packet. */
#define MAX_RECORDED_ARGUMENTS 32768

struct run {
	struct run_options options;
	struct signal_state signals; /* as the caller had them */
	struct failure failure;
	struct launch_identity identity;
	int workdir_fd;
	char *workdir;
	int home_fd;
	char *home;
	int bind_fds[RUN_MAX_BINDS];
	char *bind_paths[RUN_MAX_BINDS];
	struct code code;
	const char *language;
	char *policy; /* name or absolute path */
	char *log;    /* absolute path, or NULL */
	struct report_file report;
	int socket;
	struct client_prepared prepared;
	bool is_prepared;
	struct environment environment;
	int signal_fd;
	struct stdin_pump *pump;
	uint64_t deadline;
};

static void run_release(struct run *run)
{
	closep(&run->socket); /* first: an execution that is still ours ends with it */
	run_options_release(&run->options);
	identity_release(&run->identity);
	closep(&run->workdir_fd);
	free(run->workdir);
	closep(&run->home_fd);
	free(run->home);
	for (size_t i = 0; i < RUN_MAX_BINDS; i++) {
		closep(&run->bind_fds[i]);
		free(run->bind_paths[i]);
	}
	code_release(&run->code);
	free(run->policy);
	free(run->log);
	report_file_close(&run->report);
	if (run->is_prepared)
		client_prepared_release(&run->prepared);
	environment_release(&run->environment);
	closep(&run->signal_fd);
	if (run->pump)
		stdin_pump_free(run->pump);
}

/* --- what is asked for -------------------------------------------------------------------- */

static int absolute_path(const char *path, char **ret_path)
{
	_cleanup_(freep) char *here = NULL;
	char *absolute;

	if (path[0] == '/') {
		absolute = strdup(path);
	} else {
		here = getcwd(NULL, 0);
		if (!here)
			return -errno;
		if (asprintf(&absolute, "%s/%s", here, path) < 0)
			absolute = NULL;
	}
	if (!absolute)
		return -ENOMEM;
	*ret_path = absolute;
	return 0;
}

static bool names_file(const char *policy)
{
	size_t length = strlen(policy);

	return strchr(policy, '/') || (length > 5 && strcmp(policy + length - 5, ".yaml") == 0);
}

static const char *default_policy(const char *language)
{
	static const struct {
		const char *language, *policy;
	} defaults[] = {
		{"python", "python-sandbox"},
		{"shell", "shell-sandbox"},
		{"bash", "shell-sandbox"},
		{"sh", "shell-sandbox"},
	};

	for (size_t i = 0; language && i < ARRAY_SIZE(defaults); i++)
		if (strcasecmp(defaults[i].language, language) == 0)
			return defaults[i].policy;
	return NULL;
}

static int choose_policy(struct run *run)
{
	const char *policy = run->options.policy;
	int r;

	if (!policy)
		policy = default_policy(run->language);
	if (!policy)
		return failure_set(&run->failure, EINVAL,
				   "which policy? There is no default for this command: say "
				   "--policy NAME or --policy FILE");
	if (names_file(policy)) {
		r = absolute_path(policy, &run->policy);
		if (r < 0)
			return failure_set(&run->failure, r, "cannot tell where %s is: %m", policy);
		return 0;
	}
	run->policy = strdup(policy);
	return run->policy ? 0 : failure_set(&run->failure, ENOMEM, "%m");
}

static int resolve_user(struct run *run)
{
	const struct passwd *user;
	const char *home;

	if (run->options.user) {
		int r = identity_resolve(run->options.user, &run->identity, &run->failure);

		if (r < 0)
			return r;
		home = run->identity.home;
	} else {
		user = getpwuid(geteuid());
		home = user ? user->pw_dir : NULL;
	}
	/* ${home} is bound where there is one; whether anything in it is allowed, the policy says. */
	if (home && home[0] == '/' && strcmp(home, "/") != 0) {
		run->home_fd = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
		run->home = run->home_fd >= 0 ? strdup(home) : NULL;
	}
	return 0;
}

static int open_directories(struct run *run)
{
	const struct run_options *options = &run->options;
	int r;

	r = directory_open(options->workdir, "the work directory", &run->workdir_fd, &run->workdir,
			   &run->failure);
	for (size_t i = 0; r == 0 && i < options->bind_count; i++)
		r = directory_open(options->binds[i].directory, "the bound directory",
				   &run->bind_fds[i], &run->bind_paths[i], &run->failure);
	return r;
}

static int find_code(struct run *run)
{
	struct code_question question = {
		.argc = run->options.argc,
		.argv = run->options.argv,
		.path = getenv("PATH"),
		.workdir = run->workdir,
		.workdir_fd = run->workdir_fd,
		.stdin_fd = STDIN_FILENO,
	};
	int r;

	r = code_identify(&question, &run->code, &run->failure);
	if (r < 0)
		return r;
	run->language = run->options.language ? run->options.language : run->code.language;
	if (!run->code.stream)
		return 0;
	r = stdin_pump_new(STDIN_FILENO, &run->pump);
	return r < 0 ? failure_set(&run->failure, r, "cannot hand standard input through: %m") : 0;
}

/* All that can go wrong before the daemon is asked for anything. */
static int gather(struct run *run)
{
	int r;

	r = open_directories(run);
	if (r == 0)
		r = resolve_user(run);
	if (r == 0)
		r = find_code(run);
	if (r == 0)
		r = choose_policy(run);
	if (r == 0 && run->options.log) {
		r = absolute_path(run->options.log, &run->log);
		if (r < 0)
			failure_set(&run->failure, r, "cannot tell where %s is: %m",
				    run->options.log);
	}
	if (r == 0 && run->options.report)
		r = report_file_open(run->options.report, &run->report, &run->failure);
	return r;
}

/* --- the daemon --------------------------------------------------------------------------- */

static int connect_daemon(struct run *run)
{
	struct timeval patience = {.tv_sec = DAEMON_PATIENCE_SECONDS};
	int r;

	r = client_connect_or_start(&run->socket, &run->failure);
	if (r < 0)
		return r;
	if (setsockopt(run->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		return failure_set(&run->failure, errno, "cannot set up the connection: %m");
	return 0;
}

/* SHA-256 of the argument strings, each with its NUL. */
static int hash_arguments(const struct run_options *options, struct client_prepare *prepare)
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	int r = hash ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < options->argc; i++) {
		size_t size = strlen(options->argv[i]) + 1;

		r = sha256_update(hash, options->argv[i], size);
		prepare->arguments_length += size;
	}
	return r < 0 ? r : sha256_finish(hash, prepare->arguments_digest);
}

/*
 * The arguments as they may be recorded: NULL where one carries code. NULL altogether if they are
 * too many for a request, or not text.
 */
static int recordable_arguments(const struct run_options *options, char ***ret_arguments)
{
	_cleanup_(freep) char **arguments = calloc(options->argc + 1, sizeof(*arguments));
	_cleanup_(freep) bool *carries = calloc(options->argc, sizeof(*carries));
	size_t size = 0;

	if (!arguments || !carries)
		return -ENOMEM;
	arguments_mark_code(options->argc, (const char *const *)options->argv, carries);
	for (size_t i = 0; i < options->argc; i++) {
		json_t *text;

		if (carries[i])
			continue;
		text = json_string(options->argv[i]);
		json_decref(text);
		size += strlen(options->argv[i]);
		if (!text || size > MAX_RECORDED_ARGUMENTS)
			return 0;
		arguments[i] = options->argv[i];
	}
	*ret_arguments = TAKE_PTR(arguments);
	return 0;
}

static int prepare(struct run *run)
{
	const struct run_options *options = &run->options;
	_cleanup_(freep) char **arguments = NULL;
	_cleanup_(freep) char *text = NULL;
	const char *bind_names[RUN_MAX_BINDS];
	struct client_prepare ask = {
		.policy = run->policy,
		.workdir = run->workdir,
		.workdir_fd = run->workdir_fd,
		.home_fd = run->home_fd,
		.bind_names = bind_names,
		.bind_fds = run->bind_fds,
		.bind_count = options->bind_count,
		.session = options->session,
		.agent = options->agent,
		.executor = options->executor,
		.language = run->language,
		.limits = options->limits,
		.observe = options->observe,
		.log = run->log,
		.program = options->argv[0],
		.argument_count = options->argc,
		.code = &run->code.audit,
		.uid = run->identity.change ? run->identity.uid : geteuid(),
		.gid = run->identity.change ? run->identity.gid : getegid(),
	};
	int r;

	for (size_t i = 0; i < options->bind_count; i++)
		bind_names[i] = options->binds[i].name;
	r = hash_arguments(options, &ask);
	if (r == 0)
		r = recordable_arguments(options, &arguments);
	if (r < 0)
		return failure_set(&run->failure, r, "cannot record the arguments: %m");
	ask.arguments = arguments;
	r = client_prepare(run->socket, &ask, &run->prepared, &text, &run->failure);
	run->is_prepared = r == 0;
	/* The daemon's words in full: diagnostics of a policy may be many. */
	if (r < 0 && text) {
		message("%s", text);
		run->failure.text[0] = '\0';
	}
	return r;
}

static int make_environment(struct run *run)
{
	struct environment_anchor anchors[3 + RUN_MAX_BINDS];
	size_t count = 0;

	anchors[count++] = (struct environment_anchor){"workdir", run->workdir};
	anchors[count++] = (struct environment_anchor){"tmp", run->prepared.tmp};
	if (run->home)
		anchors[count++] = (struct environment_anchor){"home", run->home};
	for (size_t i = 0; i < run->options.bind_count; i++)
		anchors[count++] =
			(struct environment_anchor){run->options.binds[i].name, run->bind_paths[i]};
	return environment_build(environ, &run->prepared.environment, anchors, count,
				 &run->identity, &run->environment, &run->failure);
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
	if (outcome->cause == AUDIT_END_TIMEOUT)
		message("timed out and was killed (cordon show %s)", id);
	else if (outcome->cause == AUDIT_END_DENIALS)
		message("was killed: too many accesses were refused (cordon show %s)", id);
	else if (outcome->cause == AUDIT_END_KILLED)
		message("was killed on request (cordon show %s)", id);
	if (outcome->denials)
		message("%" PRIu64 " access%s refused (cordon show %s)", outcome->denials,
			outcome->denials == 1 ? " was" : "es were", id);
	else if (outcome->would_denials)
		message("%" PRIu64 " access%s have been refused (cordon show %s)",
			outcome->would_denials, outcome->would_denials == 1 ? " would" : "es would",
			id);
}

static void take_outcome(struct run *run, struct client_outcome *outcome)
{
	struct failure failure = {};

	if (report_file_write(&run->report, outcome->report_fd, &failure) < 0)
		message("%s", failure.text);
	closep(&outcome->report_fd);
	say_outcome(run, outcome);
}

/* Everything in the cgroup dies; waits, for a while, until the kernel says that it is empty. */
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

/*
 * The daemon is gone: enforcement went on without it. What the command left behind is killed here;
 * a daemon that is started records the end of what it finds.
 */
static int finish_alone(struct run *run, const struct supervised *end)
{
	struct failure failure = {};
	int socket;

	end_alone(run);
	closep(&run->socket);
	run->socket = -1;
	message("the daemon went away during the run, which stayed confined; %s",
		run->report.fd >= 0 ? "there is no report, and " : "");
	if (client_connect_or_start(&socket, &failure) == 0) {
		close(socket);
		message("its end is recorded as recovered (cordon show %s)", run->prepared.id);
	} else {
		message("its end is recorded when cordon next starts: %s", failure.text);
	}
	return end->overdue ? EXIT_TIMED_OUT : exit_status_of_wait(end->status);
}

static int finish(struct run *run, const struct supervised *end)
{
	struct client_outcome outcome;
	struct client_ended ended = {
		.status = end->status,
		.user_nsec = timeval_nsec(end->usage.ru_utime),
		.system_nsec = timeval_nsec(end->usage.ru_stime),
	};
	int r;

	if (run->pump)
		ended.have_code =
			stdin_pump_finish(run->pump, ended.code_digest, &ended.code_length) == 0;
	if (end->daemon_lost)
		return finish_alone(run, end);
	r = client_ended(run->socket, &ended, &outcome, &run->failure);
	if (r < 0) {
		if (r != -ECONNRESET)
			message("%s", run->failure.text);
		return finish_alone(run, end);
	}
	take_outcome(run, &outcome);
	if (outcome.cause == AUDIT_END_TIMEOUT || end->overdue)
		return EXIT_TIMED_OUT;
	return exit_status_of_wait(end->status);
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

/* --- the run ------------------------------------------------------------------------------ */

static int start(struct run *run, struct launched *ret_child)
{
	struct launch launch = {
		.argv = run->options.argv,
		.environment = run->environment.variables,
		.workdir_fd = run->workdir_fd,
		.cgroup_fd = run->prepared.cgroup_fd,
		.stdin_fd = run->pump ? run->pump->read_fd : -1,
		.identity = &run->identity,
		.limits = &run->prepared.limits,
		.capabilities = run->prepared.capabilities,
		.signals = &run->signals,
	};
	int r;

	r = supervise_signals(&run->signal_fd);
	if (r < 0)
		return failure_set(&run->failure, r, "cannot take over signals: %m");
	r = launch_start(&launch, ret_child, &run->failure);
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
		.pump = run->pump,
	};
	struct supervised end;
	int r;

	r = supervise(&supervision, &end);
	closep(&child->pidfd);
	if (r < 0) {
		/* The connection closes with us, and the daemon ends what is left. */
		failure_set(&run->failure, r,
			    "cannot watch over the command, so it was killed: %m");
		message("%s", run->failure.text);
		return EXIT_NOTHING_RAN;
	}
	return finish(run, &end);
}

static int execute(struct run *run)
{
	struct launched child;
	int r;

	r = start(run, &child);
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
		message("%s: %s", run->options.argv[0],
			r == -ENOENT ? "not found" : run->failure.text);
		return give_up(run, r, exit_status_of_exec(r));
	}
	return supervise_run(run, &child);
}

static int run_command(struct run *run)
{
	int r;

	r = gather(run);
	if (r == 0)
		r = connect_daemon(run);
	if (r == 0)
		r = prepare(run);
	if (r == 0) {
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
		.workdir_fd = -1,
		.home_fd = -1,
		.report = REPORT_FILE_NONE,
		.socket = -1,
		.signal_fd = -1,
	};
	struct sigaction reap_children = {.sa_handler = SIG_DFL};
	int r;

	for (size_t i = 0; i < RUN_MAX_BINDS; i++)
		run.bind_fds[i] = -1;
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
	return run_command(&run);
}
