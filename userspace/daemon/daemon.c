/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon as a whole: owns the enforcement, the control socket and the log. */
#include "daemon/policy/indirect_policy.h"
#include "daemon/daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/io.h"
#include "daemon/executor/adopted.h"
#include "daemon/execution/approval_check.h"
#include "daemon/privsep/confine.h"
#include "daemon/dns/dns_stub.h"
#include "control/embedded.h"
#include "daemon/execution/ending.h"
#include "daemon/execution/events.h"
#include "daemon/executor/executors.h"
#include "daemon/executor/gathering.h"
#include "daemon/executor/guard.h"
#include "daemon/handover.h"
#include "control/lock.h"
#include "daemon/host/notify.h"
#include "daemon/log_identity.h"
#include "daemon/start_names.h"
#include "daemon/privsep/writer_directory.h"
#include "control/protocol.h"
#include "daemon/privsep/reader_process.h"
#include "daemon/execution/recovery.h"
#include "daemon/running.h"
#include "daemon/server/server.h"
#include "daemon/privsep/writer_process.h"
#include "kernel/features.h"
#include "kernel/load_progress.h"
#include "policy/source/search.h"

#define AGENT_LOG "agent.log"
/* Several for each execution. */
#define FILES_WANTED 524288
/* How long the start waits for the daemon's own log. */
#define LOG_MSEC	  1500
#define LOG_MSEC_EMBEDDED 20000

/* --- setting up --------------------------------------------------------------------------- */

/* For those who look for a daemon by its number; the lock is what keeps a second one away. */
static int write_pid_file(struct running *running, struct failure *failure)
{
	const char *path = running->options.pid_file;
	_cleanup_(closep) int fd = -1;
	char text[16];
	int r;

	if (!path)
		return 0;
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return failure_set(failure, errno, "cannot make %s: %m", path);
	running->pid_written = true;
	snprintf(text, sizeof(text), "%d\n", getpid());
	r = io_write_all(fd, text, strlen(text));
	return r < 0 ? failure_set(failure, r, "cannot write %s: %m", path) : 0;
}

static int find_policies(struct running *running, struct failure *failure)
{
	if (running->options.policies)
		return 0;
	running->directories = policy_search_own_directories();
	if (!running->directories)
		return failure_set(failure, ENOMEM, "%m");
	running->options.policies = (const char *const *)running->directories;
	return 0;
}

/* Nothing reads the messages of an embedded daemon, so they go to a file beside the log. */
static int open_agent_log(struct running *running, struct failure *failure)
{
	_cleanup_(freep) char *path = NULL;
	_cleanup_(closep) int fd = -1;

	if (!running->options.embedded)
		return 0;
	if (asprintf(&path, "%s/" AGENT_LOG, logs_directory(running->daemon.log)) < 0)
		return failure_set(failure, ENOMEM, "%m");
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		return failure_set(failure, errno, "cannot open %s: %m", path);
	return 0;
}

static int open_approvals(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;

	daemon->state = running->options.state;
	daemon->approvals_by_option = running->options.require_approval;
	return approval_require(daemon, false, failure);
}

/*
 * It serves others than who happened to start it: it does not end with his cgroup, nor is killed
 * for his memory.
 */
static void leave_starter(const struct daemon *daemon)
{
	_cleanup_(closep) int top =
		openat(daemon->cgroups.fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = top < 0 ? -errno : cgroup_enter(top, getpid());

	if (r == 0)
		r = io_write_file(AT_FDCWD, "/proc/self/oom_score_adj", "0");
	if (r < 0)
		daemon_say((struct daemon *)(uintptr_t)daemon,
			   "the daemon stays where it was started: %s", strerror(-r));
}

/* Who this host is, for the head of its logs. */
static int find_identity(struct running *running, struct failure *failure)
{
	_cleanup_(freep) char *trouble = NULL;
	int r = log_identity_of(running->options.fleet, running->identity, &trouble);

	if (r < 0)
		return failure_set(failure, r, "cannot say which host this is: %m");
	if (trouble)
		daemon_say(&running->daemon, "this host's logs name no tenant and no labels: %s",
			   trouble);
	running->options.logs.log.identity = running->identity;
	return 0;
}

/*
 * A log that cannot be opened ends the start. While a log's file system does not reply, the daemon
 * serves: executions continue, and none starts. An embedded daemon fails instead, because
 * `cordon run` waits for it.
 */
static int open_own_log(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;
	bool begun;
	int r = logs_get_within(daemon->logs, running->options.log,
				daemon->embedded ? LOG_MSEC_EMBEDDED : LOG_MSEC, &daemon->log,
				&begun, failure);

	if (r < 0 || begun)
		return r;
	if (daemon->embedded)
		return failure_set(failure, ETIMEDOUT,
				   "cannot open the audit log in %s: its file system does not "
				   "answer",
				   running->options.log);
	daemon_say(daemon, "the log in %s does not answer: nothing starts until it does",
		   running->options.log);
	return 0;
}

static void on_late_groups(void *context)
{
	const struct running *running = context;

	if (running->daemon.server)
		server_groups_known(running->daemon.server);
}

/* The user of the log's writers, and the groups of the sockets. */
static int find_names(struct running *running, struct failure *failure)
{
	struct logs_options *logs = &running->options.logs;
	const char *user = logs->user ? logs->user : WRITER_USER;
	const struct name *known;
	int r = start_names_find(&running->daemon, user, on_late_groups, running, &running->names,
				 failure);

	if (r < 0)
		return r;
	if (start_names_wait(running->names))
		daemon_say(&running->daemon,
			   "the host's user database is unresponsive: groups that only it has may "
			   "connect once it replies");
	known = names_find(&running->daemon.names, user);
	if (known) {
		logs->uid = known->id;
		logs->gid = known->group;
	}
	logs->user_known = true;
	return writer_user_of(logs->user, known, &logs->uid, &logs->gid, failure);
}

static int open_files(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;
	int r;

	r = cgroup_tree_open(NULL, &daemon->cgroups, failure);
	if (r < 0)
		return r;
	if (daemon->embedded)
		leave_starter(daemon);
	(void)((r = find_identity(running, failure)) < 0 ||
	       (r = find_names(running, failure)) < 0 ||
	       (r = logs_new(&running->options.logs, daemon->base, &daemon->logs, failure)) < 0 ||
	       (r = open_own_log(running, failure)) < 0 ||
	       (r = open_agent_log(running, failure)) < 0 ||
	       (r = lock_subdirectory("executions", &daemon->state_fd, failure)) < 0 ||
	       (r = lock_subdirectory("policies", &running->notes_fd, failure)) < 0 ||
	       (r = find_policies(running, failure)) < 0 ||
	       (r = open_approvals(running, failure)) < 0);
	if (r == 0)
		indirect_policies_forget(DAEMON_INDIRECTIONS);
	return r;
}

/* Workers read the file once for the whole start, and an unresponsive file system bounds it. */
static int read_config(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;
	const char *path = running->options.config;
	int r;

	if (!path)
		return 0;
	r = gathering_read(daemon, path, !daemon->embedded, NULL, NULL, &running->gathering,
			   failure);
	if (r == 0)
		r = gathering_wait(running->gathering);
	if (r < 0)
		return failure_set(failure, r, "%m");
	return daemon->embedded ? 0 : executors_check(daemon, running->gathering, path, failure);
}

static void tell_loading(void *data, uint64_t done, uint64_t all)
{
	const struct running *running = data;

	embedded_tell(running->pipe_fd, done, all);
}

static int open_enforcement(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;
	int r;

	if (running->pipe_fd >= 0)
		load_progress_to(tell_loading, running);
	r = enforcement_open(daemon->cgroups.fd, &daemon->enforcement, &daemon->origin, failure);
	if (r < 0)
		return failure_set(failure, r, "cannot enforce: %m; run `cordon doctor`");
	r = enforcement_on_event(daemon->enforcement, events_handle, daemon);
	if (r < 0)
		return failure_set(failure, r, "cannot read events: %m");
	r = policies_new(daemon->enforcement, running->options.policies, running->notes_fd,
			 &daemon->policies);
	return r < 0 ? failure_set(failure, r, "%m") : 0;
}

/* Leaves out executions that the executors' loading found: they may wait for a gate. */
static void resume_adopted(struct daemon *daemon)
{
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++) {
		struct execution *e = daemon->by_slot[i];

		if (e && e->adopted && e->recovered)
			adopted_resume(e);
	}
}

static int start_executors(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;
	int r;

	if (!running->options.config || daemon->embedded) {
		daemon->knows_executors = true;
		resume_adopted(daemon);
		return running->options.config ? executors_audit(daemon, running->gathering,
								 running->options.config, failure)
					       : 0;
	}
	r = executors_start(daemon, running->options.config, &daemon->executors, failure);
	if (r == 0)
		r = guard_start(&running->guard_fd, failure);
	if (r == 0)
		r = executors_load_first(daemon->executors, running->gathering, failure);
	if (r < 0)
		return r;
	daemon->knows_executors = true;
	resume_adopted(daemon);
	adopted_scan(daemon);
	return 0;
}

/* The log is read on other hosts, too. NULL: the host has no name that is text. */
static json_t *host_name(void)
{
	char name[256] = "";

	return gethostname(name, sizeof(name) - 1) == 0 && name[0] ? json_string(name) : NULL;
}

static int start(struct running *running, struct failure *failure)
{
	static const char *const origins[] = {
		[ENFORCEMENT_LOADED] = "loaded",
		[ENFORCEMENT_RECOVERED] = "recovered",
		[ENFORCEMENT_UPGRADED] = "upgraded",
	};
	struct daemon *daemon = &running->daemon;
	int r;

	r = handover_lock(daemon->embedded, &running->lock_fd, failure);
	if (r < 0)
		return r;
	(void)((r = confine_daemon(failure)) < 0 || (r = running_make_loop(running, failure)) < 0 ||
	       (r = open_files(running, failure)) < 0 || (r = read_config(running, failure)) < 0 ||
	       (r = open_enforcement(running, failure)) < 0);
	if (r < 0)
		return r;
	r = features_gaps(&daemon->gaps);
	if (r < 0)
		return failure_set(failure, r, "cannot look at the kernel's features: %m");
	daemon_record(daemon, "start",
		      json_pack("{s:s,s:i,s:b,s:s,s:o,s:o*}", "version", CORDON_VERSION, "pid",
				(int)getpid(), "embedded", daemon->embedded, "enforcement",
				origins[daemon->origin], "gaps", protocol_strings(daemon->gaps),
				"host", host_name()));
	running->on_record = true;
	policies_never_wait(daemon->policies);
	(void)((r = recovery_run(daemon, failure)) < 0 ||
	       (r = dns_stub_start(daemon, &daemon->dns, failure)) < 0 ||
	       (r = start_executors(running, failure)) < 0 ||
	       (r = server_start(daemon, &daemon->server, failure)) < 0 ||
	       (r = running_watch(running, failure)) < 0 ||
	       (r = write_pid_file(running, failure)) < 0);
	gathering_free(TAKE_PTR(running->gathering));
	return r;
}

static void report(struct running *running, int r, const struct failure *failure)
{
	if (running->pipe_fd < 0)
		return;
	embedded_report(running->pipe_fd,
			r == 0				      ? EMBEDDED_READY
			: r == -EBUSY && running->lock_fd < 0 ? EMBEDDED_BUSY
							      : EMBEDDED_FAILED,
			r == 0 ? "" : failure->text);
	running->pipe_fd = -1;
}

static void raise_file_limit(void)
{
	const struct rlimit wanted = {.rlim_cur = FILES_WANTED, .rlim_max = FILES_WANTED};
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= FILES_WANTED ||
	    setrlimit(RLIMIT_NOFILE, &wanted) == 0)
		return;
	/* The host allows no process that many: as many as there can be. */
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int daemon_run(const struct daemon_options *options, struct failure *failure)
{
	struct running *running = calloc(1, sizeof(*running));
	struct daemon *daemon;
	int r;

	if (!running)
		return failure_set(failure, ENOMEM, "%m");
	daemon = &running->daemon;
	running->options = *options;
	running->lock_fd = running->notes_fd = running->guard_fd = -1;
	running->pipe_fd = options->embedded ? EMBEDDED_PIPE_FD : -1;
	daemon->state_fd = -1;
	daemon->cgroups.fd = -1;
	daemon->embedded = options->embedded;
	daemon->say = options->say;
	daemon->idle = running_idle;
	daemon->busy = running_busy;
	daemon->execution_timer = ending_timer;
	daemon->adopted = &adopted_calls;
	daemon->start_time = clock_nsec(CLOCK_BOOTTIME);
	signal(SIGPIPE, SIG_IGN);
	raise_file_limit();
	if (running->pipe_fd >= 0)
		(void)fcntl(running->pipe_fd, F_SETFD, FD_CLOEXEC);
	r = start(running, failure);
	report(running, r, failure);
	if (r == 0) {
		daemon_say(daemon, "enforcing; %s", PROTOCOL_SOCKET);
		if (notify("READY=1\nSTATUS=enforcing") < 0)
			daemon_say(daemon, "the service manager cannot be told: %s",
				   getenv("NOTIFY_SOCKET"));
		running_idle(daemon);
		event_base_dispatch(daemon->base);
		if (running->unload) {
			r = running_unload(running, failure);
			server_stopped(daemon->server, r, failure->text);
		}
	} else if (daemon->enforcement && daemon->origin == ENFORCEMENT_LOADED) {
		/* What this start loaded and cannot use goes with it. */
		struct failure ignored = {};

		(void)running_unload(running, &ignored);
	}
	running_stop(running);
	free(running);
	return r;
}

int daemon_write_log(void)
{
	return writer_process();
}

bool daemon_is_reader(const char *option)
{
	return strcmp(option, READER_REQUESTS) == 0 || strcmp(option, READER_DNS_QUERIES) == 0 ||
	       strcmp(option, READER_DNS_ANSWERS) == 0;
}

int daemon_read(void)
{
	return reader_process();
}
