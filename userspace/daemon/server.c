/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/server.h"

#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/connection.h"
#include "daemon/dispatch.h"
#include "daemon/ending.h"
#include "daemon/protocol.h"

#define BACKLOG 128

struct server {
	struct daemon *daemon;
	int fd;
	struct event *acceptable;
	LIST_HEAD(, connection) connections;
	size_t count;
	bool stop_requested;
};

/* --- connections -------------------------------------------------------------------------- */

static void drop(struct connection *c)
{
	struct daemon *daemon = c->daemon;
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
		connection_refuse(c, r, failure.text);
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
	/* Those beyond are for `cordon status`, `ps`, `kill` and `disable`: see dispatch(). */
	if (server->count >= PROTOCOL_MAX_CLIENTS + PROTOCOL_RESERVED_CLIENTS) {
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
	c->daemon = server->daemon;
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

/* --- the socket ---------------------------------------------------------------------------- */

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

void server_request_stop(struct server *server)
{
	server->stop_requested = true;
	server_stop_accepting(server);
}

bool server_stop_requested(const struct server *server)
{
	return server->stop_requested;
}

void server_stopped(struct server *server, int error, const char *message)
{
	struct connection *c;

	LIST_FOREACH(c, &server->connections, link)
	{
		if (!c->awaits_stop)
			continue;
		c->awaits_stop = false;
		connection_answer(c, error < 0 ? protocol_error(error, message) : protocol_ok(),
				  NULL, 0);
	}
}

/* --- who waits ---------------------------------------------------------------------------- */

void server_execution_finished(struct server *server, struct execution *e)
{
	struct connection *owner = e->connection, *c, *next;

	if (owner)
		connection_finished(owner, e);
	for (c = LIST_FIRST(&server->connections); c; c = next) {
		next = LIST_NEXT(c, link);
		if (strcmp(c->awaits_kill, e->id) != 0)
			continue;
		c->awaits_kill[0] = '\0';
		connection_answer(c, protocol_ok(), NULL, 0);
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
		connection_refuse(c, ETIMEDOUT, text);
	}
}
