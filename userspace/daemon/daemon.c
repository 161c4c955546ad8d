/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/io.h"
#include "daemon/adopted.h"
#include "daemon/approvals.h"
#include "daemon/confine.h"
#include "daemon/context.h"
#include "daemon/dns_stub.h"
#include "daemon/embedded.h"
#include "daemon/ending.h"
#include "daemon/events.h"
#include "daemon/executors.h"
#include "daemon/guard.h"
#include "daemon/handover.h"
#include "daemon/lock.h"
#include "daemon/notify.h"
#include "daemon/protocol.h"
#include "daemon/reader_process.h"
#include "daemon/recovery.h"
#include "daemon/server.h"
#include "daemon/writer_process.h"
#include "kernel/features.h"
#include "policy/search.h"

#define FLUSH_MSEC 50
/* Coalesced denials make no event: the counters are looked at, too. */
#define TICK_MSEC  200
#define SYNC_TICKS 5
#define AGENT_LOG  "agent.log"
/* Several for each execution. */
#define FILES_WANTED 524288

/* Everything that daemon_run() sets up (the daemon first: its address is that of the whole), in the order in which it is released at the end. */
struct running {
	struct daemon daemon;
	struct daemon_options options;
	int lock_fd;
	int notes_fd;
	int pipe_fd;
	int guard_fd;
	char **directories;
	struct event *signals[3];
	struct event *events;
	struct event *tick;
	struct event *idle_timer;
	struct event *watchdog;
	bool pid_written;
	unsigned int ticks;
	bool unload; /* leave nothing behind */
};

/* --- what the parts use ------------------------------------------------------------------- */

void daemon_say(struct daemon *daemon, const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	daemon->say(line);
}

static void on_flush(evutil_socket_t fd, short what, void *context)
{
	struct daemon *daemon = context;

	(void)fd;
	(void)what;
	daemon->flush_pending = false;
	(void)logs_flush_all(daemon->logs, false);
}

/* Ticks only while there is something to look after: an idle daemon sleeps. */
static void start_ticking(struct running *running)
{
	const struct timeval after = {.tv_usec = TICK_MSEC * 1000};

	if (running->tick && !evtimer_pending(running->tick, NULL))
		evtimer_add(running->tick, &after);
}

void daemon_flush_soon(struct daemon *daemon)
{
	const struct timeval after = {.tv_usec = FLUSH_MSEC * 1000};

	if (!daemon->flush_pending)
		daemon->flush_pending = evtimer_add(daemon->flush_timer, &after) == 0;
	start_ticking((struct running *)daemon);
}

void daemon_record(struct daemon *daemon, const char *action, json_t *details)
{
	(void)logs_append(daemon->log,
			  audit_record_agent(action, details, clock_nsec(CLOCK_REALTIME)));
	json_decref(details);
	daemon_flush_soon(daemon);
}

/* --- the loop ----------------------------------------------------------------------------- */

static void on_events(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	events_drain(context, EVENTS_AT_A_TIME);
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
	struct running *running = context;
	struct daemon *daemon = &running->daemon;
	bool again = true;

	(void)fd;
	(void)what;
	if (++running->ticks % SYNC_TICKS == 0) {
		again = logs_flush_all(daemon->logs, true) || daemon->unfinished > 0;
		again |= logs_tick_all(daemon->logs);
	}
	if (again)
		start_ticking(running);
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i])
			ending_check_denials(daemon->by_slot[i]);
}

/* Told from the loop: one that does not turn is not alive. */
static void on_watchdog(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)context;
	(void)notify("WATCHDOG=1");
}

static void leave(struct running *running, bool unload)
{
	(void)notify("STOPPING=1");
	running->unload = unload;
	server_stop_accepting(running->daemon.server);
	event_base_loopbreak(running->daemon.base);
}

static void on_signal(evutil_socket_t signal, short what, void *context)
{
	struct running *running = context;
	struct daemon *daemon = &running->daemon;

	(void)what;
	daemon_say(daemon, "%s: leaving%s", strsignal((int)signal),
		   daemon->executions > 0 ? "; executions stay confined" : "");
	leave(running, daemon->embedded && daemon->unfinished == 0);
}

static void on_reload(evutil_socket_t signal, short what, void *context)
{
	struct running *running = context;
	struct failure failure = {};
	size_t count;

	(void)signal;
	(void)what;
	if (running->daemon.executors &&
	    executors_load(running->daemon.executors, &count, &failure) < 0)
		daemon_say(&running->daemon, "%s", failure.text);
}

static bool nothing_to_do(const struct daemon *daemon)
{
	return daemon->unfinished == 0 && server_connections(daemon->server) == 0;
}

static void on_idle_timer(evutil_socket_t fd, short what, void *context)
{
	struct running *running = context;

	(void)fd;
	(void)what;
	if (nothing_to_do(&running->daemon))
		leave(running, true);
}

/* Called whenever something has gone. */
static void on_idle(struct daemon *daemon)
{
	struct running *running = (struct running *)daemon;
	const struct timeval after = {.tv_sec = running->options.idle_seconds};

	if (!daemon->server)
		return;
	if (daemon->unfinished == 0 && server_stop_requested(daemon->server)) {
		running->unload = true;
		event_base_loopbreak(daemon->base);
	} else if (daemon->embedded && nothing_to_do(daemon)) {
		evtimer_add(running->idle_timer, &after);
	}
}

/* --- setting up --------------------------------------------------------------------------- */

static struct event *add_event(struct running *running, evutil_socket_t fd, short what,
			       event_callback_fn callback, void *context,
			       const struct timeval *after)
{
	struct event *event = event_new(running->daemon.base, fd, what, callback, context);

	if (event && event_add(event, after) < 0) {
		event_free(event);
		event = NULL;
	}
	return event;
}

static int make_base(struct running *running, struct failure *failure)
{
	struct event_config *config = event_config_new();
	struct daemon *daemon = &running->daemon;

	if (config && event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0)
		daemon->base = event_base_new_with_config(config);
	if (config)
		event_config_free(config);
	if (!daemon->base)
		return failure_set(failure, ENOMEM, "cannot make an event loop");
	daemon->flush_timer = evtimer_new(daemon->base, on_flush, daemon);
	running->idle_timer = evtimer_new(daemon->base, on_idle_timer, running);
	running->tick = evtimer_new(daemon->base, on_tick, running);
	if (!daemon->flush_timer || !running->idle_timer || !running->tick)
		return failure_set(failure, ENOMEM, "%m");
	return 0;
}

static int watch(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;

	running->signals[0] =
		add_event(running, SIGTERM, EV_SIGNAL | EV_PERSIST, on_signal, running, NULL);
	running->signals[1] =
		add_event(running, SIGINT, EV_SIGNAL | EV_PERSIST, on_signal, running, NULL);
	running->events = add_event(running, enforcement_event_fd(daemon->enforcement),
				    EV_READ | EV_PERSIST, on_events, daemon, NULL);
	running->signals[2] =
		add_event(running, SIGHUP, EV_SIGNAL | EV_PERSIST, on_reload, running, NULL);
	if (!running->signals[0] || !running->signals[1] || !running->signals[2] ||
	    !running->events)
		return failure_set(failure, ENOMEM, "cannot watch for events");
	return 0;
}

static int start_watchdog(struct running *running, struct failure *failure)
{
	uint64_t nsec = notify_watchdog_nsec();
	const struct timeval every = {
		.tv_sec = (time_t)(nsec / NSEC_PER_SEC),
		.tv_usec = (suseconds_t)(nsec % NSEC_PER_SEC / 1000),
	};

	if (nsec == 0)
		return 0;
	running->watchdog = add_event(running, -1, EV_PERSIST, on_watchdog, NULL, &every);
	return running->watchdog ? 0 : failure_set(failure, ENOMEM, "cannot watch the time");
}

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

/* An embedded daemon has nobody to read its messages: they go to a file beside the log. */
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
	if (!running->options.require_approval)
		return 0;
	return approvals_open(running->options.state, &running->daemon.approvals, failure);
}

static int open_files(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;
	int r;

	(void)((r = logs_new(&running->options.logs, &daemon->logs, failure)) < 0 ||
	       (r = logs_get(daemon->logs, running->options.log, &daemon->log, failure)) < 0 ||
	       (r = open_agent_log(running, failure)) < 0 ||
	       (r = lock_subdirectory("executions", &daemon->state_fd, failure)) < 0 ||
	       (r = lock_subdirectory("policies", &running->notes_fd, failure)) < 0 ||
	       (r = cgroup_tree_open(NULL, &daemon->cgroups, failure)) < 0 ||
	       (r = find_policies(running, failure)) < 0 ||
	       (r = open_approvals(running, failure)) < 0);
	return r;
}

static int open_enforcement(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;
	int r;

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

static void resume_adopted(struct daemon *daemon)
{
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i] && daemon->by_slot[i]->adopted)
			adopted_resume(daemon->by_slot[i]);
}

static int start_executors(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;
	size_t count;
	int r;

	if (!running->options.config || daemon->embedded) {
		resume_adopted(daemon);
		return 0;
	}
	r = executors_start(daemon, running->options.config, &daemon->executors, failure);
	if (r == 0)
		r = guard_start(&running->guard_fd, failure);
	if (r == 0)
		r = executors_load(daemon->executors, &count, failure);
	if (r < 0)
		return r;
	resume_adopted(daemon);
	adopted_scan(daemon);
	return 0;
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
	(void)((r = confine_daemon(failure)) < 0 || (r = make_base(running, failure)) < 0 ||
	       (r = open_files(running, failure)) < 0 ||
	       (r = open_enforcement(running, failure)) < 0);
	if (r < 0)
		return r;
	r = features_gaps(&daemon->gaps);
	if (r < 0)
		return failure_set(failure, r, "cannot look at the kernel's features: %m");
	daemon_record(daemon, "start",
		      json_pack("{s:s,s:i,s:b,s:s,s:o}", "version", CORDON_VERSION, "pid",
				(int)getpid(), "embedded", daemon->embedded, "enforcement",
				origins[daemon->origin], "gaps", protocol_strings(daemon->gaps)));
	(void)((r = recovery_run(daemon, failure)) < 0 ||
	       (r = dns_stub_start(daemon, &daemon->dns, failure)) < 0 ||
	       (r = start_executors(running, failure)) < 0 ||
	       (r = server_start(daemon, &daemon->server, failure)) < 0 ||
	       (r = watch(running, failure)) < 0 || (r = start_watchdog(running, failure)) < 0 ||
	       (r = write_pid_file(running, failure)) < 0);
	return r;
}

/* --- taking down -------------------------------------------------------------------------- */

static void close_dns(struct daemon *daemon)
{
	if (daemon->dns)
		dns_stub_free(daemon->dns);
	daemon->dns = NULL;
}

/* Detaching takes seconds; until then the lock makes new daemons wait. */
static int unload(struct running *running, struct failure *failure)
{
	struct daemon *daemon = &running->daemon;
	int r;

	close_dns(daemon);
	if (daemon->executors) {
		executors_clear(daemon->executors);
		executors_free(daemon->executors);
		daemon->executors = NULL;
	}
	policies_free(daemon->policies);
	daemon->policies = NULL;
	r = enforcement_unload(daemon->enforcement, failure);
	if (r >= 0)
		daemon->enforcement = NULL;
	daemon_record(daemon, "unload",
		      json_pack("{s:s}", "outcome", r < 0 ? failure->text : "unloaded"));
	return r;
}

static void free_execution_handles(struct daemon *daemon)
{
	/* They stay in the kernel and in their state files, for the next daemon to end. */
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		daemon->by_slot[i] = NULL;
}

/* What is not written by now is lost; a log that can be written says so. */
static void record_unwritten(struct daemon *daemon)
{
	struct log_use *log = NULL;

	(void)logs_flush_all(daemon->logs, true);
	while (logs_next_failing(daemon->logs, &log)) {
		daemon_say(daemon, "records for %s could not be written and are lost",
			   logs_directory(log));
		if (log != daemon->log)
			daemon_record(daemon, "lost",
				      json_pack("{s:s}", "log", logs_directory(log)));
	}
}

static void stop(struct running *running)
{
	struct daemon *daemon = &running->daemon;

	if (daemon->server)
		server_free(daemon->server);
	close_dns(daemon);
	free_execution_handles(daemon);
	if (daemon->executors)
		executors_free(daemon->executors);
	if (daemon->policies)
		policies_free(daemon->policies);
	if (daemon->enforcement)
		enforcement_close(daemon->enforcement);
	if (daemon->log) {
		record_unwritten(daemon);
		daemon_record(daemon, "stop", NULL);
	}
	if (daemon->approvals)
		approvals_free(daemon->approvals);
	if (daemon->logs)
		logs_free(daemon->logs);
	event_text_release(&daemon->event_text);
	protocol_strings_free(daemon->gaps);
	for (size_t i = 0; i < ARRAY_SIZE(running->signals); i++)
		if (running->signals[i])
			event_free(running->signals[i]);
	if (running->events)
		event_free(running->events);
	if (running->tick)
		event_free(running->tick);
	if (running->idle_timer)
		event_free(running->idle_timer);
	if (running->watchdog)
		event_free(running->watchdog);
	if (daemon->flush_timer)
		event_free(daemon->flush_timer);
	if (daemon->base)
		event_base_free(daemon->base);
	cgroup_tree_close(&daemon->cgroups);
	closep(&daemon->state_fd);
	closep(&running->notes_fd);
	policy_search_free(running->directories);
	closep(&running->guard_fd);
	if (running->pid_written)
		(void)unlink(running->options.pid_file);
	/* The lock last: whoever gets it finds nothing half done. */
	closep(&running->lock_fd);
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
	daemon->idle = on_idle;
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
		on_idle(daemon);
		event_base_dispatch(daemon->base);
		if (running->unload) {
			r = unload(running, failure);
			server_stopped(daemon->server, r, failure->text);
		}
	} else if (daemon->enforcement && daemon->origin == ENFORCEMENT_LOADED) {
		/* What this start loaded and cannot use goes with it. */
		struct failure ignored = {};

		(void)unload(running, &ignored);
	}
	stop(running);
	free(running);
	return r;
}

int daemon_write_log(void)
{
	return writer_process();
}

int daemon_read_requests(void)
{
	return reader_process();
}
