/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/server.h"

#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/ending.h"
#include "daemon/protocol.h"
#include "daemon/request.h"

#define BACKLOG 128

struct connection {
	LIST_ENTRY(connection) link;
	struct server *server;
	int fd;
	struct event *readable;
	struct ucred peer;
	struct execution *execution; /* its own, until that is finished */
	/* How it finished, kept until the client asks. */
	bool have_outcome;
	struct audit_end outcome;
	uint64_t outlived; /* processes that were killed besides the command itself */
	int report_fd;
	/* Requests that are answered later. */
	bool awaits_outcome;
	bool awaits_stop;
	char awaits_kill[UUID_TEXT_SIZE]; /* id, or "" */
};

struct server {
	struct daemon *daemon;
	int fd;
	struct event *acceptable;
	LIST_HEAD(, connection) connections;
	size_t count;
};

/* --- answers ------------------------------------------------------------------------------ */

static void drop(struct connection *c)
{
	struct daemon *daemon = c->server->daemon;
	struct execution *e = c->execution;

	LIST_REMOVE(c, link);
	c->server->count--;
	event_free(c->readable);
	closep(&c->fd);
	closep(&c->report_fd);
	free(c);
	if (e)
		ending_owner_gone(e);
	daemon->idle(daemon);
}

/* Takes over the message. A client that does not read what it asked for is dropped. */
static void answer(struct connection *c, json_t *message, const int *fds, size_t fd_count)
{
	int r = message ? protocol_send(c->fd, message, fds, fd_count) : -ENOMEM;

	json_decref(message);
	if (r < 0)
		/* The reader sees the end and drops it: nobody else may hold it then. */
		(void)shutdown(c->fd, SHUT_RDWR);
}

static void refuse(struct connection *c, int error, const char *text)
{
	answer(c, protocol_error(error, text), NULL, 0);
}

static void answer_outcome(struct connection *c)
{
	const struct audit_end *end = &c->outcome;

	c->awaits_outcome = false;
	c->have_outcome = false;
	if (c->report_fd < 0) {
		refuse(c, ENOMEM, "no memory for the report; the execution has ended");
		return;
	}
	answer(c,
	       json_pack("{s:b,s:s,s:I,s:I,s:I}", "ok", 1, "cause", protocol_cause_name(end->cause),
			 "denials", (json_int_t)end->denials, "would_denials",
			 (json_int_t)end->would_denials, "killed", (json_int_t)c->outlived),
	       &c->report_fd, 1);
	closep(&c->report_fd);
	c->report_fd = -1;
}

void server_execution_finished(struct server *server, struct execution *e)
{
	struct connection *owner = e->connection, *c, *next;

	if (owner) {
		owner->execution = NULL;
		owner->have_outcome = true;
		owner->outcome = e->end;
		owner->outlived = e->end.killed_tasks - e->leader_killed;
		owner->report_fd = TAKE_FD(e->report_fd);
		if (owner->awaits_outcome)
			answer_outcome(owner);
	}
	for (c = LIST_FIRST(&server->connections); c; c = next) {
		next = LIST_NEXT(c, link);
		if (strcmp(c->awaits_kill, e->id) != 0)
			continue;
		c->awaits_kill[0] = '\0';
		answer(c, protocol_ok(), NULL, 0);
	}
}

void server_execution_stuck(struct server *server, struct execution *e)
{
	static const char text[] = "tasks of the execution survive SIGKILL (stuck in the kernel?); "
				   "they stay confined, and killing them goes on";
	struct connection *c;

	LIST_FOREACH(c, &server->connections, link)
	{
		bool owner = c == e->connection && c->awaits_outcome;

		if (!owner && strcmp(c->awaits_kill, e->id) != 0)
			continue;
		c->awaits_outcome = false;
		c->awaits_kill[0] = '\0';
		refuse(c, ETIMEDOUT, text);
	}
}

/* --- requests ----------------------------------------------------------------------------- */

static void do_prepare(struct connection *c, json_t *message, struct protocol_fds *fds)
{
	struct daemon *daemon = c->server->daemon;
	_cleanup_(freep) char *text = NULL;
	struct failure failure = {};
	const struct policy_environment *environment;
	const struct compiled_policy *policy;
	struct cordon_policy_header header;
	struct execution *e;
	json_t *set, *reply;
	int r;

	if (daemon->leaving)
		return refuse(c, ESHUTDOWN, "cordon is being disabled; no execution can start");
	if (c->execution || c->have_outcome)
		return refuse(c, EINVAL, "a connection owns one execution at most");
	r = execution_prepare(daemon, message, fds, c->peer.pid, c, &e, &text, &failure);
	if (r < 0)
		return refuse(c, r, text && *text ? text : failure.text);
	c->execution = e;
	policy = e->record.policy;
	environment = &policy->environment;
	memcpy(&header, policy->tables, sizeof(header));
	set = json_object();
	for (size_t i = 0; set && environment->set_names[i]; i++)
		json_object_set_new(set, environment->set_names[i],
				    json_string(environment->set_values[i]));
	reply = json_pack("{s:b,s:s,s:{s:b,s:o,s:o},s:o,s:o,s:I,s:s+,s:b,s:s}", "ok", 1, "id",
			  e->id, "environment", "keep_all", environment->keep_all, "keep",
			  protocol_strings(environment->keep), "set", set, "limits",
			  protocol_limits(&e->record.limits, true), "limits_missing",
			  protocol_strings(e->record.limits_missing), "capabilities",
			  (json_int_t)header.capabilities, "tmp", DAEMON_TMP_PARENT "/", e->name,
			  "observe", e->record.observe, "arguments",
			  policy->arguments == POLICY_ARGUMENTS_FULL ? "full" : "digest");
	answer(c, reply, &e->cgroup_fd, 1);
}

static void do_label(struct connection *c, json_t *message, struct protocol_fds *fds)
{
	struct execution *e = c->execution;
	struct failure failure = {};
	int r;

	if (!e)
		return refuse(c, EINVAL, "nothing was prepared, or it has ended");
	r = execution_label(e, message, fds, &failure);
	if (r < 0) {
		refuse(c, r, failure.text);
		ending_begin(e, AUDIT_END_NOT_STARTED);
		return;
	}
	answer(c, json_pack("{s:b,s:I}", "ok", 1, "deadline_boot_nsec", (json_int_t)e->deadline),
	       NULL, 0);
}

/* The client tells its child's end; the answer comes when all is dead and recorded. */
static bool await_outcome(struct connection *c)
{
	if (c->have_outcome) {
		answer_outcome(c);
		return false;
	}
	if (!c->execution) {
		refuse(c, EINVAL, "nothing was prepared");
		return false;
	}
	c->awaits_outcome = true;
	return true;
}

static void do_ended(struct connection *c, json_t *message)
{
	struct ended_request request;
	struct failure failure = {};
	int r = ended_request_parse(message, &request, &failure);

	if (r < 0)
		return refuse(c, r, failure.text);
	if (await_outcome(c))
		ending_told(c->execution, &request);
}

static void do_abort(struct connection *c, json_t *message)
{
	struct abort_request request;
	struct failure failure = {};
	int r = abort_request_parse(message, &request, &failure);

	if (r < 0)
		return refuse(c, r, failure.text);
	if (await_outcome(c))
		ending_aborted(c->execution, &request);
}

static json_t *counters_json(struct daemon *daemon)
{
	static const char *const names[] = {
		[CORDON_COUNTER_UNKNOWN_EXECUTION] = "unknown_execution",
		[CORDON_COUNTER_UNRESOLVED] = "unresolved",
		[CORDON_COUNTER_TOO_DEEP] = "too_deep",
		[CORDON_COUNTER_RENAME_RACE] = "rename_race",
		[CORDON_COUNTER_LABEL_FALLBACK] = "label_fallback",
		[CORDON_COUNTER_SCRATCH_EXHAUSTED] = "scratch_exhausted",
		[CORDON_COUNTER_LABEL_EXHAUSTED] = "label_exhausted",
		[CORDON_COUNTER_NO_POLICY] = "no_policy",
		[CORDON_COUNTER_CRITICAL_DROPPED] = "critical_dropped",
		[CORDON_COUNTER_ACTIVITY_DROPPED] = "activity_dropped",
		[CORDON_COUNTER_FORK_REFUSED] = "fork_refused",
		[CORDON_COUNTER_BAD_TABLE] = "bad_table",
	};
	json_t *counters = json_object();

	for (unsigned int i = 0; counters && i < ARRAY_SIZE(names); i++)
		json_object_set_new(
			counters, names[i],
			json_integer((json_int_t)enforcement_counter(daemon->enforcement, i)));
	return counters;
}

static void do_status(struct connection *c)
{
	struct daemon *daemon = c->server->daemon;
	struct failure failure = {};
	int writable = logs_writable(daemon->log, &failure);

	answer(c,
	       json_pack("{s:b,s:s,s:i,s:i,s:b,s:b,s:I,s:I,s:I,s:s,s:b,s:s,s:I,s:I,s:I,s:I,s:o}",
			 "ok", 1, "version", CORDON_VERSION, "protocol", PROTOCOL_VERSION, "pid",
			 (int)getpid(), "embedded", daemon->embedded, "enforcing", 1, "uptime_nsec",
			 (json_int_t)(clock_nsec(CLOCK_BOOTTIME) - daemon->start_time),
			 "executions", (json_int_t)daemon->executions, "policies",
			 (json_int_t)policies_count(daemon->policies), "log",
			 logs_directory(daemon->log), "log_writable", writable >= 0, "log_problem",
			 failure.text, "records_lost", (json_int_t)logs_lost(daemon->logs),
			 "stray_events", (json_int_t)daemon->strays, "malformed_events",
			 (json_int_t)daemon->malformed, "connections", (json_int_t)c->server->count,
			 "counters", counters_json(daemon)),
	       NULL, 0);
}

static void do_ps(struct connection *c)
{
	struct daemon *daemon = c->server->daemon;
	_cleanup_(json_decrefp) json_t *list = json_array();
	size_t room = PROTOCOL_MAX_PACKET - 256, listed = 0, total = 0;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++) {
		const struct execution *e = daemon->by_slot[i];
		json_t *entry = e ? execution_json(e) : NULL;
		size_t size;

		if (!e)
			continue;
		total++;
		size = entry ? json_dumpb(entry, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII) + 1 : 0;
		if (entry && size <= room) {
			room -= size;
			listed++;
			json_array_append(list, entry);
		} else {
			/* One packet is one answer; what does not fit is counted. */
			room = 0;
		}
		json_decref(entry);
	}
	answer(c,
	       json_pack("{s:b,s:O,s:I}", "ok", 1, "executions", list, "not_listed",
			 (json_int_t)(total - listed)),
	       NULL, 0);
}

static void do_kill(struct connection *c, json_t *message)
{
	struct failure failure = {};
	unsigned char id[16];
	struct execution *e;
	int r = kill_request_parse(message, id, &failure);

	if (r < 0)
		return refuse(c, r, failure.text);
	uuid_format(id, c->awaits_kill);
	e = execution_find(c->server->daemon, c->awaits_kill);
	if (!e || e->state == EXECUTION_FINISHED) {
		c->awaits_kill[0] = '\0';
		return refuse(c, ENOENT, "no such execution is live");
	}
	ending_begin(e, AUDIT_END_KILLED);
}

static void list_live(struct daemon *daemon, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot) && used < size; i++) {
		const struct execution *e = daemon->by_slot[i];

		if (e)
			used += (size_t)snprintf(text + used, size - used, "\n  %s  %s  %s", e->id,
						 e->record.policy->name, e->record.workdir);
	}
}

static void do_stop(struct connection *c, json_t *message)
{
	struct daemon *daemon = c->server->daemon;
	struct failure failure = {};
	bool force;
	int r = stop_request_parse(message, &force, &failure);

	if (r < 0)
		return refuse(c, r, failure.text);
	if (daemon->executions > 0 && !force) {
		char text[8192];
		size_t used = (size_t)snprintf(
			text, sizeof(text),
			"%zu executions are live (--force kills them):", daemon->executions);

		list_live(daemon, text + used, sizeof(text) - used);
		return refuse(c, EBUSY, text);
	}
	c->awaits_stop = true;
	server_stop_accepting(c->server);
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i])
			ending_begin(daemon->by_slot[i], AUDIT_END_KILLED);
	daemon->idle(daemon);
}

/* True if the request was understood as one; false: the connection is not worth keeping. */
static bool dispatch(struct connection *c, json_t *message, struct protocol_fds *fds)
{
	struct failure failure = {};
	enum request_op op;
	int r;

	if (c->awaits_outcome || c->awaits_stop || c->awaits_kill[0]) {
		refuse(c, EPROTO, "one request at a time: the last one is not answered yet");
		return false;
	}
	r = request_op(message, &op, &failure);
	if (r == 0 && (op == REQUEST_STATUS || op == REQUEST_PS))
		r = plain_request_parse(message, &failure);
	else if (r == 0 && op == REQUEST_HELLO)
		r = hello_request_parse(message, &failure);
	if (r < 0) {
		refuse(c, r, failure.text);
		return false;
	}
	switch (op) {
	case REQUEST_HELLO:
		answer(c, json_pack("{s:b,s:i}", "ok", 1, "version", PROTOCOL_VERSION), NULL, 0);
		break;
	case REQUEST_PREPARE:
		do_prepare(c, message, fds);
		break;
	case REQUEST_LABEL:
		do_label(c, message, fds);
		break;
	case REQUEST_ENDED:
		do_ended(c, message);
		break;
	case REQUEST_ABORT:
		do_abort(c, message);
		break;
	case REQUEST_STATUS:
		do_status(c);
		break;
	case REQUEST_PS:
		do_ps(c);
		break;
	case REQUEST_KILL:
		do_kill(c, message);
		break;
	case REQUEST_STOP:
		do_stop(c, message);
		break;
	case REQUEST_OP_COUNT:
		break;
	}
	return true;
}

/* --- connections -------------------------------------------------------------------------- */

static void on_readable(evutil_socket_t fd, short what, void *context)
{
	struct connection *c = context;
	_cleanup_(protocol_fds_close) struct protocol_fds fds = {};
	_cleanup_(json_decrefp) json_t *message = NULL;
	struct failure failure = {};
	int r;

	(void)what;
	r = protocol_receive(fd, &message, &fds, &failure);
	if (r == -EAGAIN)
		return;
	if (r == -ECONNRESET) {
		drop(c);
		return;
	}
	if (r < 0) {
		refuse(c, r, failure.text);
		drop(c);
		return;
	}
	if (!dispatch(c, message, &fds))
		drop(c);
}

static void turn_away(int fd, int error, const char *text)
{
	_cleanup_(json_decrefp) json_t *message = protocol_error(error, text);

	if (message)
		(void)protocol_send(fd, message, NULL, 0);
}

/* Only root for the time being; the credentials are those of connect(2). */
static int admit(struct server *server, int fd, struct ucred *ret_peer)
{
	socklen_t size = sizeof(*ret_peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret_peer, &size) < 0)
		return -errno;
	if (ret_peer->uid != 0) {
		turn_away(fd, EPERM, "only root may use the cordon daemon");
		return -EPERM;
	}
	if (server->count >= PROTOCOL_MAX_CLIENTS) {
		turn_away(fd, EUSERS, "too many clients are connected; try again later");
		return -EUSERS;
	}
	return 0;
}

static int add_connection(struct server *server, int fd, const struct ucred *peer)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->server = server;
	c->peer = *peer;
	c->report_fd = -1;
	c->readable = event_new(server->daemon->base, fd, EV_READ | EV_PERSIST, on_readable, c);
	if (!c->readable || event_add(c->readable, NULL) < 0) {
		if (c->readable)
			event_free(c->readable);
		free(c);
		return -ENOMEM;
	}
	c->fd = fd;
	LIST_INSERT_HEAD(&server->connections, c, link);
	server->count++;
	return 0;
}

static void resume_accepting(evutil_socket_t fd, short what, void *context)
{
	struct server *server = context;

	(void)fd;
	(void)what;
	if (server->acceptable)
		event_add(server->acceptable, NULL);
}

/* Out of descriptors, say: the connection stays in the backlog, and would be reported for ever. */
static void pause_accepting(struct server *server, int error)
{
	const struct timeval after = {.tv_sec = 1};

	daemon_say(server->daemon, "accepting a connection: %s", strerror(error));
	event_del(server->acceptable);
	event_base_once(server->daemon->base, -1, EV_TIMEOUT, resume_accepting, server, &after);
}

static void on_acceptable(evutil_socket_t listener, short what, void *context)
{
	struct server *server = context;
	struct ucred peer;

	(void)what;
	for (;;) {
		_cleanup_(closep) int fd =
			accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		int r;

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0) {
			if (errno != EAGAIN)
				pause_accepting(server, errno);
			return;
		}
		r = admit(server, fd, &peer);
		if (r == 0)
			r = add_connection(server, fd, &peer);
		if (r == 0)
			TAKE_FD(fd);
	}
}

static int bind_socket(int *ret_fd, struct failure *failure)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = PROTOCOL_SOCKET};
	_cleanup_(closep) int fd =
		socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask;
	int r;

	if (fd < 0)
		return failure_set(failure, errno, "cannot make a socket: %m");
	/* The lock is held: whoever bound it is gone. */
	if (unlink(PROTOCOL_SOCKET) < 0 && errno != ENOENT)
		return failure_set(failure, errno, "cannot remove the stale %s: %m",
				   PROTOCOL_SOCKET);
	mask = umask(0177);
	r = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	umask(mask);
	if (r == 0 && listen(fd, BACKLOG) < 0)
		r = -errno;
	if (r < 0)
		return failure_set(failure, r, "cannot listen on %s: %m", PROTOCOL_SOCKET);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int server_start(struct daemon *daemon, struct server **ret_server, struct failure *failure)
{
	struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return failure_set(failure, ENOMEM, "%m");
	server->daemon = daemon;
	LIST_INIT(&server->connections);
	server->fd = -1;
	r = bind_socket(&server->fd, failure);
	if (r == 0) {
		server->acceptable = event_new(daemon->base, server->fd, EV_READ | EV_PERSIST,
					       on_acceptable, server);
		if (!server->acceptable || event_add(server->acceptable, NULL) < 0)
			r = failure_set(failure, ENOMEM, "%m");
	}
	if (r < 0) {
		server_free(server);
		return r;
	}
	*ret_server = server;
	return 0;
}

void server_stop_accepting(struct server *server)
{
	server->daemon->leaving = true;
	if (server->fd < 0)
		return;
	/* The name first: whoever finds it no more waits for the lock. */
	(void)unlink(PROTOCOL_SOCKET);
	if (server->acceptable)
		event_free(server->acceptable);
	server->acceptable = NULL;
	closep(&server->fd);
	server->fd = -1;
}

void server_free(struct server *server)
{
	struct connection *c;

	server_stop_accepting(server);
	while ((c = LIST_FIRST(&server->connections)) != NULL) {
		if (c->execution)
			c->execution->connection = NULL;
		c->execution = NULL;
		LIST_REMOVE(c, link);
		event_free(c->readable);
		closep(&c->fd);
		closep(&c->report_fd);
		free(c);
	}
	free(server);
}

size_t server_connections(const struct server *server)
{
	return server->count;
}

bool server_stop_requested(const struct server *server)
{
	const struct connection *c;

	LIST_FOREACH(c, &server->connections, link)
	if (c->awaits_stop)
		return true;
	return false;
}

void server_stopped(struct server *server, int error, const char *message)
{
	struct connection *c;

	LIST_FOREACH(c, &server->connections, link)
	{
		if (!c->awaits_stop)
			continue;
		c->awaits_stop = false;
		answer(c, error < 0 ? protocol_error(error, message) : protocol_ok(), NULL, 0);
	}
}
