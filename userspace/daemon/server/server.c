/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/server/server.h"

#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/server/ahead.h"
#include "daemon/server/connection.h"
#include "daemon/server/dispatch.h"
#include "daemon/execution/ending.h"
#include "control/protocol.h"
#include "daemon/peer/foreign.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/readers.h"

#define BACKLOG		 128
#define ACCEPT_AT_A_TIME 64

struct server {
	struct daemon *daemon;
	int fd;
	struct event *acceptable;
	bool have_group;
	gid_t group; /* whose members may connect */
	LIST_HEAD(, connection) connections;
	size_t count;
	size_t members; /* of count: connections of those who are not root */
	bool stop_requested;
	struct readers *readers;
	char packet[PROTOCOL_MAX_PACKET];
};

/* --- connections -------------------------------------------------------------------------- */

static void release(struct connection *c)
{
	LIST_REMOVE(c, link);
	ahead_cancel(c);
	event_free(c->readable);
	if (c->resume)
		event_free(c->resume);
	if (c->account)
		account_close(c->account);
	c->server->members -= !c->peer.root;
	peer_release(&c->peer);
	closep(&c->fd);
	closep(&c->report_fd);
	free(c);
}

static void drop(struct connection *c)
{
	struct daemon *daemon = c->daemon;
	struct execution *e = c->execution;

	c->server->count--;
	release(c);
	if (e)
		ending_owner_gone(e);
	daemon->idle(daemon);
}

/* --- what a user takes -------------------------------------------------------------------- */

static int read_on(struct connection *c)
{
	const struct timeval silence = {.tv_sec = PROTOCOL_SILENCE_SECONDS};

	return event_add(c->readable, c->peer.root ? NULL : &silence);
}

static void on_resume(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)read_on(context);
}

/* False: the user has had its share for now, and what it asks stays in the socket. */
static bool may_go_on(struct connection *c)
{
	uint64_t wait = c->account ? account_wait(c->account, clock_nsec(CLOCK_MONOTONIC)) : 0;
	const struct timeval after = {
		.tv_sec = (time_t)(wait / NSEC_PER_SEC),
		.tv_usec = (suseconds_t)(wait % NSEC_PER_SEC / 1000) + 1,
	};

	if (wait == 0)
		return true;
	event_del(c->readable);
	evtimer_add(c->resume, &after);
	return false;
}

static void charge(struct account *account, uint64_t since)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);

	if (account)
		account_charge(account, (int64_t)(now - since), now);
}

static bool is_silent(const struct connection *c)
{
	return !c->execution && !c->have_outcome && !c->awaits_outcome && !c->awaits_kill[0];
}

/* The kernel's word, for each message: a connection that was handed on is nobody's. */
static bool is_sender(const struct connection *c, const struct ucred *sender)
{
	return sender->pid == c->peer.ucred.pid && sender->uid == c->peer.ucred.uid;
}

/* Root's own are trusted to be closed. */
static bool keep_what_may_hang(const struct connection *c, struct protocol_fds *fds)
{
	size_t kept = c->account ? foreign_set_aside(fds) : 0;

	if (kept > 0)
		c->account->kept += (unsigned int)kept;
	return kept > 0;
}

static void serve(struct connection *c, json_t *message, struct protocol_fds *fds)
{
	if (!dispatch(c, message, fds))
		drop(c);
}

/* What it needs to know is known by now; NULL: it was refused. */
static void on_ready(struct connection *c, json_t *message, struct protocol_fds *fds)
{
	struct account *account = c->account;
	uint64_t begin = clock_nsec(CLOCK_MONOTONIC);

	(void)read_on(c);
	if (message)
		serve(c, message, fds);
	charge(account, begin);
}

static void on_readable(evutil_socket_t fd, short what, void *context)
{
	TURN("request");
	struct connection *c = context;
	_cleanup_(protocol_fds_close) struct protocol_fds fds = {};
	_cleanup_(json_decrefp) json_t *message = NULL;
	struct failure failure = {};
	struct account *account = c->account;
	uint64_t begin = clock_nsec(CLOCK_MONOTONIC);
	struct ucred sender;
	size_t size;
	int r;

	if (what & EV_TIMEOUT) {
		if (is_silent(c))
			drop(c);
		return;
	}
	if (!may_go_on(c))
		return;
	r = protocol_receive_packet(fd, c->server->packet, &size, &fds, &sender, &failure);
	if (r == -EAGAIN)
		return;
	if (keep_what_may_hang(c, &fds))
		r = failure_set(&failure, EPERM,
				"a descriptor may be of a directory or a process, or open for "
				"nothing (O_PATH): this one is kept, and whoever sends more of "
				"them is not let in");
	if (r == -ECONNRESET) {
		drop(c);
		return;
	}
	if (r == 0 && !is_sender(c, &sender))
		r = failure_set(&failure, EPERM, "this connection is another process's");
	if (r == 0)
		r = readers_parse(c->server->readers, c->peer.ucred.uid, c->server->packet, size,
				  &message, &failure);
	if (r == 0)
		r = ahead_start(c, &message, &fds, on_ready, &failure);
	/* Answers come in the order of requests: the next one stays in the socket meanwhile. */
	if (r > 0)
		event_del(c->readable);
	if (r < 0) {
		connection_refuse(c, r, failure.text);
		drop(c);
	} else if (r == 0) {
		serve(c, message, &fds);
	}
	charge(account, begin);
}

/*
 * What was asked before is taken out, and nothing comes any more: where something is left unread when a socket is closed,
 * its peer is told of a reset and not what was answered (unix_release_sock(), net/unix/af_unix.c).
 */
static void turn_away(int fd, int error, const char *text)
{
	_cleanup_(json_decrefp) json_t *message = protocol_error(error, text);
	char packet;

	if (shutdown(fd, SHUT_RD) == 0)
		while (recv(fd, &packet, sizeof(packet), MSG_DONTWAIT) > 0)
			;
	if (message)
		(void)protocol_send(fd, message, NULL, 0);
}

/* Who it is is taken from connect(2). */
static int admit(struct server *server, int fd, struct peer *ret_peer)
{
	struct failure failure = {};
	int r = peer_read(fd, server->have_group ? &server->group : NULL, ret_peer, &failure);

	if (r < 0) {
		turn_away(fd, r, failure.text);
		return r;
	}
	/* Those beyond are for `cordon status`, `ps`, `kill` and `disable`: see dispatch(). */
	if (server->count >= PROTOCOL_MAX_CLIENTS + PROTOCOL_RESERVED_CLIENTS) {
		turn_away(fd, EUSERS, "too many clients are connected; try again later");
		peer_release(ret_peer);
		return -EUSERS;
	}
	return 0;
}

static int open_account(struct server *server, struct connection *c)
{
	if (c->peer.root)
		return 0;
	/* All of them together leave room for root. */
	if (++server->members <= PROTOCOL_MAX_MEMBERS)
		c->account = account_open(&server->daemon->accounts, c->peer.ucred.uid,
					  clock_nsec(CLOCK_MONOTONIC));
	if (!c->account) {
		turn_away(c->fd, EUSERS, "you have too many connections; try again later");
		return -EUSERS;
	}
	c->resume = evtimer_new(server->daemon->base, on_resume, c);
	return c->resume ? 0 : -ENOMEM;
}

/* Takes over descriptor and peer, even on failure. */
static int add_connection(struct server *server, int fd, struct peer *peer)
{
	struct connection *c = calloc(1, sizeof(*c));
	int r = -ENOMEM;

	if (c)
		c->readable =
			event_new(server->daemon->base, fd, EV_READ | EV_PERSIST, on_readable, c);
	if (!c || !c->readable) {
		free(c);
		close(fd);
		peer_release(peer);
		return r;
	}
	c->server = server;
	c->daemon = server->daemon;
	c->peer = *peer;
	c->peer.names = &server->daemon->names;
	c->report_fd = -1;
	c->fd = fd;
	LIST_INSERT_HEAD(&server->connections, c, link);
	r = open_account(server, c);
	if (r == 0 && read_on(c) < 0)
		r = -ENOMEM;
	if (r < 0) {
		release(c);
		return r;
	}
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
	TURN("connections");
	struct server *server = context;
	struct peer peer;

	(void)what;
	/* Not until none is left: those who are connected have their turn in between. */
	for (int i = 0; i < ACCEPT_AT_A_TIME; i++) {
		_cleanup_(closep) int fd =
			accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0) {
			if (errno != EAGAIN)
				pause_accepting(server, errno);
			return;
		}
		if (admit(server, fd, &peer) == 0)
			(void)add_connection(server, TAKE_FD(fd), &peer);
	}
}

/* --- who waits ---------------------------------------------------------------------------- */

static void tell_begun(struct execution *e, int result, const char *why)
{
	struct connection *owner = e->connection;

	if (result < 0) {
		if (owner)
			connection_refuse(owner, result, why);
		ending_begin(e, AUDIT_END_NOT_STARTED);
	} else if (owner) {
		connection_answer(owner,
				  json_pack("{s:b,s:I}", "ok", 1, "deadline_boot_nsec",
					    (json_int_t)e->deadline),
				  NULL, 0);
	}
}

static void tell_finished(struct execution *e)
{
	struct server *server = e->daemon->server;
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

static void tell_stuck(struct execution *e)
{
	static const char text[] = "tasks of the execution survive SIGKILL (stuck in the kernel?); "
				   "they stay confined, and killing them goes on";
	struct connection *c;

	LIST_FOREACH(c, &e->daemon->server->connections, link)
	{
		bool owner = c == e->connection && c->awaits_outcome;

		if (!owner && strcmp(c->awaits_kill, e->id) != 0)
			continue;
		c->awaits_outcome = false;
		c->awaits_kill[0] = '\0';
		connection_refuse(c, ETIMEDOUT, text);
	}
}

/* --- the socket ---------------------------------------------------------------------------- */

/* Its members may knock; what each may ask for, dispatch() says. */
static int let_group_in(const gid_t *group, struct failure *failure)
{
	if (!group)
		return 0;
	if (lchown(PROTOCOL_SOCKET, 0, *group) < 0 || chmod(PROTOCOL_SOCKET, 0660) < 0)
		return failure_set(failure, errno, "cannot give %s to the group " PEER_GROUP ": %m",
				   PROTOCOL_SOCKET);
	return 0;
}

static int bind_socket(const gid_t *group, int *ret_fd, struct failure *failure)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = PROTOCOL_SOCKET};
	_cleanup_(closep) int fd =
		socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1;
	mode_t mask;
	int r;

	/* Those that are accepted have it from here. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
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
	r = let_group_in(group, failure);
	if (r < 0)
		return r;
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
	server->have_group = peer_group(&server->group);
	r = readers_new(READER_REQUESTS, &server->readers, failure);
	if (r == 0)
		r = bind_socket(server->have_group ? &server->group : NULL, &server->fd, failure);
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
	daemon->execution_begun = tell_begun;
	daemon->execution_finished = tell_finished;
	daemon->execution_stuck = tell_stuck;
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
		release(c);
	}
	if (server->readers)
		readers_free(server->readers);
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
