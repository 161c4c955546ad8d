/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: connections, who they are, what they ask, what they are told. */
#include "daemon/server/server.h"

#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/server/ahead.h"
#include "daemon/server/applying.h"
#include "daemon/server/approve.h"
#include "daemon/server/connection.h"
#include "daemon/server/dispatch.h"
#include "daemon/server/propose.h"
#include "daemon/execution/ending.h"
#include "daemon/execution/refused.h"
#include "control/protocol.h"
#include "daemon/peer/foreign.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/readers.h"

#define BACKLOG		 128
#define ACCEPT_AT_A_TIME 64

/* A socket that clients connect to. */
struct listener {
	struct server *server;
	const char *path, *group_name;
	enum request_op only; /* all that is answered there; REQUEST_OP_COUNT: everything is */
	int fd;
	struct event *acceptable;
	bool have_group;
	gid_t group; /* whose members may connect */
	/* Of a socket for one request. */
	size_t lookers;		/* connections to it: not of the server's count */
	struct account looking; /* what they take of the daemon's time, all together */
};

struct server {
	struct daemon *daemon;
	struct listener control, status, who;
	LIST_HEAD(, connection) connections;
	size_t count;
	size_t members; /* of count: connections of those who are not root */
	bool stop_requested;
	struct readers *readers;
	char packet[PROTOCOL_MAX_PACKET];
};

/* Whoever came by such a socket only looks. */
static bool is_for_looking(const struct listener *listener)
{
	return listener->only != REQUEST_OP_COUNT;
}

/* --- connections -------------------------------------------------------------------------- */

static void release(struct connection *c)
{
	LIST_REMOVE(c, link);
	readers_cancel(c->reading);
	protocol_fds_close(&c->fds);
	ahead_cancel(c);
	logs_put(c->log);
	free(c->places);
	applying_forget(c);
	approve_forget(c);
	propose_forget(c);
	event_free(c->readable);
	if (c->resume)
		event_free(c->resume);
	if (c->account)
		account_close(c->account);
	c->server->members -= !c->peer.root && !is_for_looking(c->listener);
	peer_release(&c->peer);
	closep(&c->fd);
	closep(&c->report_fd);
	free(c);
}

static void drop(struct connection *c)
{
	struct daemon *daemon = c->daemon;
	struct execution *e = c->execution;

	/* Whoever looks keeps no daemon that would leave. */
	if (is_for_looking(c->listener)) {
		c->listener->lookers--;
		release(c);
		return;
	}
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

static void charge_time(struct account *account, uint64_t took)
{
	if (account)
		account_charge(account, (int64_t)took, clock_nsec(CLOCK_MONOTONIC));
}

static void charge(struct account *account, uint64_t since)
{
	charge_time(account, clock_nsec(CLOCK_MONOTONIC) - since);
}

static bool is_silent(const struct connection *c)
{
	return !c->execution && !c->have_outcome && !c->awaits_outcome && !c->awaits_kill[0] &&
	       !c->applying && !c->approve_pending && !c->propose_pending;
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

static void refuse(struct connection *c, int error, const struct failure *failure)
{
	connection_refuse(c, error, failure->text);
	drop(c);
}

/* What its user's reader has said. That took its time, too. */
static void on_read(void *context, const struct reader_answer *answer)
{
	struct connection *c = context;
	_cleanup_(protocol_fds_close) struct protocol_fds fds = c->fds;
	_cleanup_(json_decrefp) json_t *message = NULL;
	struct account *account = c->account;
	struct failure failure = {};
	uint64_t begin = clock_nsec(CLOCK_MONOTONIC);
	int r;

	c->reading = NULL;
	c->fds = (struct protocol_fds){};
	r = readers_message(c->server->readers, c->peer.ucred.uid, answer, &message, &failure);
	if (r == 0)
		r = ahead_start(c, &message, &fds, on_ready, &failure);
	if (r < 0) {
		refuse(c, r, &failure);
	} else if (r == 0) {
		(void)read_on(c);
		serve(c, message, &fds);
	}
	charge(account, begin);
	charge_time(account, answer->took);
}

/* Answers come in the order of requests: the next one stays in the socket meanwhile. */
static int have_read(struct connection *c, size_t size, struct protocol_fds *fds,
		     struct failure *failure)
{
	const struct iovec packet = {c->server->packet, size};
	int r = readers_ask(c->server->readers, c->peer.ucred.uid, READER_REQUEST, &packet, 1,
			    on_read, c, &c->reading);

	if (r < 0)
		return failure_set(failure, EAGAIN,
				   "the daemon cannot start what reads requests: %s", strerror(-r));
	event_del(c->readable);
	c->fds = *fds;
	*fds = (struct protocol_fds){};
	return 0;
}

static void on_readable(evutil_socket_t fd, short what, void *context)
{
	TURN("request");
	struct connection *c = context;
	_cleanup_(protocol_fds_close) struct protocol_fds fds = {};
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
		r = have_read(c, size, &fds, &failure);
	if (r < 0)
		refuse(c, r, &failure);
	charge(account, begin);
}

/*
 * What was asked before is taken out, and nothing comes any more: where something is left unread
 * when a socket is closed, its peer is told of a reset and not what was answered
 * (unix_release_sock(), net/unix/af_unix.c).
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

/* Those beyond the first are for `cordon status`, `ps`, `kill` and `disable`: see dispatch(). */
static bool is_full(const struct listener *listener)
{
	const struct server *server = listener->server;

	return is_for_looking(listener)
		       ? listener->lookers >= PROTOCOL_MAX_LOOKERS
		       : server->count >= PROTOCOL_MAX_CLIENTS + PROTOCOL_RESERVED_CLIENTS;
}

/* Who it is is taken from connect(2). */
static int admit(const struct listener *listener, int fd, struct peer *ret_peer)
{
	struct failure failure = {};
	int r = peer_read(fd, listener->have_group ? &listener->group : NULL, ret_peer, &failure);

	if (r == -EPERM && is_for_looking(listener))
		failure_replace(&failure, r,
				"only root and members of the group %s may use this socket",
				listener->group_name);
	if (r < 0) {
		turn_away(fd, r, failure.text);
		return r;
	}
	if (is_full(listener)) {
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
	if (is_for_looking(c->listener)) {
		/* Not one of its own: there are as many as 64 users may have. */
		c->account = &c->listener->looking;
		c->account->connections++;
	} else if (++server->members <= PROTOCOL_MAX_MEMBERS) {
		/* All of them together leave room for root. */
		c->account = account_open(&server->daemon->accounts, c->peer.ucred.uid,
					  clock_nsec(CLOCK_MONOTONIC));
	}
	if (!c->account) {
		turn_away(c->fd, EUSERS, "you have too many connections; try again later");
		return -EUSERS;
	}
	c->resume = evtimer_new(server->daemon->base, on_resume, c);
	return c->resume ? 0 : -ENOMEM;
}

/* Takes over descriptor and peer, even on failure. */
static int add_connection(struct listener *listener, int fd, struct peer *peer)
{
	struct server *server = listener->server;
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
	c->listener = listener;
	c->only = listener->only;
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
	if (is_for_looking(listener))
		listener->lookers++;
	else
		server->count++;
	return 0;
}

static void resume_accepting(evutil_socket_t fd, short what, void *context)
{
	const struct listener *listener = context;

	(void)fd;
	(void)what;
	if (listener->acceptable)
		event_add(listener->acceptable, NULL);
}

/* Out of descriptors, say: the connection stays in the backlog, and would be reported for ever. */
static void pause_accepting(struct listener *listener, int error)
{
	struct daemon *daemon = listener->server->daemon;
	const struct timeval after = {.tv_sec = 1};

	daemon_say(daemon, "accepting a connection: %s", strerror(error));
	event_del(listener->acceptable);
	event_base_once(daemon->base, -1, EV_TIMEOUT, resume_accepting, listener, &after);
}

static void on_acceptable(evutil_socket_t socket, short what, void *context)
{
	TURN("connections");
	struct listener *listener = context;
	struct peer peer;

	(void)what;
	/* Not until none is left: those who are connected have their turn in between. */
	for (int i = 0; i < ACCEPT_AT_A_TIME; i++) {
		_cleanup_(closep) int fd =
			accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0) {
			if (errno != EAGAIN)
				pause_accepting(listener, errno);
			return;
		}
		if (admit(listener, fd, &peer) == 0)
			(void)add_connection(listener, TAKE_FD(fd), &peer);
	}
}

/* --- who waits ---------------------------------------------------------------------------- */

static void tell_begun(struct execution *e, int result, const char *why)
{
	struct connection *owner = e->owner.connection;

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
	struct connection *owner = e->owner.connection, *c, *next;

	/* Whoever is told that it has ended may ask for what it was refused. */
	refused_keep(e);
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
		bool owner = c == e->owner.connection && c->awaits_outcome;

		if (!owner && strcmp(c->awaits_kill, e->id) != 0)
			continue;
		c->awaits_outcome = false;
		c->awaits_kill[0] = '\0';
		connection_refuse(c, ETIMEDOUT, text);
	}
}

static void find_group(struct listener *listener)
{
	listener->have_group = peer_group(&listener->server->daemon->names, listener->group_name,
					  &listener->group);
}

/* --- the socket ---------------------------------------------------------------------------- */

/* Its members may knock; what each may ask for, dispatch() says. */
static int let_group_in(const struct listener *listener, struct failure *failure)
{
	if (!listener->have_group)
		return 0;
	if (lchown(listener->path, 0, listener->group) < 0 || chmod(listener->path, 0660) < 0)
		return failure_set(failure, errno, "cannot give %s to the group %s: %m",
				   listener->path, listener->group_name);
	return 0;
}

static int bind_socket(const struct listener *listener, int *ret_fd, struct failure *failure)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_(closep) int fd =
		socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1;
	mode_t mask;
	int r;

	/* Those that are accepted have it from here. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return failure_set(failure, errno, "cannot make a socket: %m");
	/* The lock is held: whoever bound it is gone. */
	if (unlink(listener->path) < 0 && errno != ENOENT)
		return failure_set(failure, errno, "cannot remove the stale %s: %m",
				   listener->path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", listener->path);
	mask = umask(0177);
	r = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	umask(mask);
	if (r == 0 && listen(fd, BACKLOG) < 0)
		r = -errno;
	if (r < 0)
		return failure_set(failure, r, "cannot listen on %s: %m", listener->path);
	r = let_group_in(listener, failure);
	if (r < 0)
		return r;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int listener_open(struct listener *listener, struct failure *failure)
{
	struct event_base *base = listener->server->daemon->base;
	int r;

	find_group(listener);
	r = bind_socket(listener, &listener->fd, failure);
	if (r < 0)
		return r;
	listener->acceptable =
		event_new(base, listener->fd, EV_READ | EV_PERSIST, on_acceptable, listener);
	if (!listener->acceptable || event_add(listener->acceptable, NULL) < 0)
		return failure_set(failure, ENOMEM, "%m");
	return 0;
}

void server_groups_known(struct server *server)
{
	struct listener *listeners[] = {&server->control, &server->status, &server->who};

	for (size_t i = 0; i < ARRAY_SIZE(listeners); i++) {
		struct failure failure = {};

		if (listeners[i]->have_group || listeners[i]->fd < 0)
			continue;
		find_group(listeners[i]);
		if (let_group_in(listeners[i], &failure) < 0)
			daemon_say(server->daemon, "%s", failure.text);
	}
}

static void listener_close(struct listener *listener)
{
	if (listener->fd < 0)
		return;
	/* The name first: whoever finds it no more waits for the lock. */
	(void)unlink(listener->path);
	if (listener->acceptable)
		event_free(listener->acceptable);
	listener->acceptable = NULL;
	closep(&listener->fd);
	listener->fd = -1;
}

static void listener_prepare(struct listener *listener, struct server *server, enum request_op only,
			     const char *path, const char *group_name)
{
	*listener = (struct listener){
		.server = server,
		.path = path,
		.group_name = group_name,
		.only = only,
		.fd = -1,
		.looking = {.balance_nsec = ACCOUNT_SAVINGS_NSEC,
			    .as_of = clock_nsec(CLOCK_MONOTONIC)},
	};
}

int server_start(struct daemon *daemon, struct server **ret_server, struct failure *failure)
{
	const struct readers_options readers = {
		.base = daemon->base,
		.option = READER_REQUESTS,
		.turn = "request",
		.seconds = READER_SECONDS,
	};
	struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return failure_set(failure, ENOMEM, "%m");
	server->daemon = daemon;
	LIST_INIT(&server->connections);
	listener_prepare(&server->control, server, REQUEST_OP_COUNT, PROTOCOL_SOCKET, PEER_GROUP);
	listener_prepare(&server->status, server, REQUEST_STATUS, PROTOCOL_STATUS_SOCKET,
			 PEER_STATUS_GROUP);
	listener_prepare(&server->who, server, REQUEST_WHO, PROTOCOL_WHO_SOCKET, PEER_WHO_GROUP);
	r = readers_new(&readers, &server->readers, failure);
	if (r == 0)
		r = listener_open(&server->status, failure);
	if (r == 0)
		r = listener_open(&server->who, failure);
	if (r == 0)
		r = listener_open(&server->control, failure);
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
	listener_close(&server->control);
	listener_close(&server->status);
	listener_close(&server->who);
}

void server_free(struct server *server)
{
	struct connection *c;

	server_stop_accepting(server);
	while ((c = LIST_FIRST(&server->connections)) != NULL) {
		if (c->execution)
			c->execution->owner.connection = NULL;
		c->execution = NULL;
		release(c);
	}
	applying_end_all(server->daemon);
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
