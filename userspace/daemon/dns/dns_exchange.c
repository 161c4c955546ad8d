/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one query to the host's DNS servers, over UDP and over TCP where the answer was cut. */
#include "daemon/dns/dns_exchange.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/host/turn.h"

/*
 * Datagrams that are looked at before the loop goes on: others may come from whoever guesses the
 * port.
 */
#define DATAGRAMS_AT_ONCE 8

struct dns_exchange {
	struct event_base *base;
	struct dns_servers servers;
	struct dns_reader reader;
	struct dns_query query;
	dns_exchange_done done;
	void *context;
	unsigned int tries;
	int fd;
	struct event *io;
	struct event *timer;
	struct reader_question *reading; /* what has come: nothing more is taken meanwhile */
	bool stream;
	uint8_t *buffer; /* of a stream: length and message, out and then in */
	size_t size;	 /* of what is to be there */
	size_t at;
};

static void next_try(struct dns_exchange *x);

static void hang_up(struct dns_exchange *x)
{
	readers_cancel(x->reading);
	x->reading = NULL;
	if (x->io)
		event_free(x->io);
	x->io = NULL;
	closep(&x->fd);
	x->fd = -1;
	free(x->buffer);
	x->buffer = NULL;
}

void dns_exchange_free(struct dns_exchange *x)
{
	hang_up(x);
	if (x->timer)
		event_free(x->timer);
	free(x);
}

static void finish(struct dns_exchange *x, const struct dns_answer *answer)
{
	dns_exchange_done done = x->done;
	void *context = x->context;

	dns_exchange_free(x);
	done(answer, context);
}

static const struct dns_server *server_of(const struct dns_exchange *x)
{
	return &x->servers.list[(x->tries - 1) % x->servers.count];
}

static int watch(struct dns_exchange *x, short what, event_callback_fn callback)
{
	if (x->io)
		event_free(x->io);
	x->io = event_new(x->base, x->fd, (short)(what | EV_PERSIST), callback, x);
	return x->io && event_add(x->io, NULL) == 0 ? 0 : -ENOMEM;
}

static int call(struct dns_exchange *x, int type)
{
	const struct dns_server *server = server_of(x);

	hang_up(x);
	x->fd = socket(server->address.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (x->fd < 0)
		return -errno;
	/* Connected: the kernel takes datagrams from nobody else. */
	if (connect(x->fd, (const struct sockaddr *)&server->address, server->size) < 0 &&
	    errno != EINPROGRESS)
		return -errno;
	return 0;
}

static void by_stream(struct dns_exchange *x);

/* Another server may know better than one that cannot or does not want to answer. */
static bool is_final(const struct dns_exchange *x, const struct dns_answer *answer)
{
	return answer->code == DNS_CODE_FINE || answer->code == DNS_CODE_NO_NAME ||
	       x->tries >= x->servers.count;
}

/* That was no answer to the query: there may be one yet, but no other message by a stream. */
static void go_on(struct dns_exchange *x)
{
	if (x->stream || event_add(x->io, NULL) < 0)
		next_try(x);
}

static void on_read(void *context, const struct reader_answer *said)
{
	struct dns_exchange *x = context;
	struct dns_answer answer;
	int r = dns_reader_answer(&x->reader, said, &x->query, &answer);

	x->reading = NULL;
	if (r == -ELOOP)
		finish(x, NULL);
	else if (r < 0)
		go_on(x);
	else if (answer.truncated && !x->stream)
		by_stream(x);
	else if (answer.truncated || !is_final(x, &answer))
		next_try(x);
	else
		finish(x, &answer);
}

/* In what is left of this try's time. */
static void take(struct dns_exchange *x, const uint8_t *data, size_t size)
{
	(void)event_del(x->io);
	if (dns_reader_ask_answer(&x->reader, data, size, &x->query, on_read, x, &x->reading) < 0)
		go_on(x);
}

/* --- over UDP ----------------------------------------------------------------------------- */

static void on_datagram(evutil_socket_t fd, short what, void *context)
{
	TURN("dns answer");
	struct dns_exchange *x = context;
	uint8_t data[DNS_ANSWER_MAX];

	(void)what;
	for (int i = 0; i < DATAGRAMS_AT_ONCE; i++) {
		/* MSG_TRUNC: the real size, which a message that was cut does not have. */
		ssize_t size = recv(fd, data, sizeof(data), MSG_TRUNC);

		if (size < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (size < 0) {
			/* Nobody listens there. */
			next_try(x);
			return;
		}
		if ((size_t)size <= sizeof(data)) {
			take(x, data, (size_t)size);
			return;
		}
	}
}

static int by_datagram(struct dns_exchange *x)
{
	uint8_t data[DNS_QUERY_MAX];
	size_t size;
	int r = call(x, SOCK_DGRAM);

	if (r < 0)
		return r;
	x->stream = false;
	if (getrandom(&x->query.id, sizeof(x->query.id), 0) != sizeof(x->query.id))
		return -EIO;
	size = dns_query_write(&x->query, data);
	if (send(x->fd, data, size, MSG_NOSIGNAL) != (ssize_t)size)
		return -EIO;
	return watch(x, EV_READ, on_datagram);
}

/* --- over TCP ----------------------------------------------------------------------------- */

/* Room for a message of the size that came first. */
static bool make_room(struct dns_exchange *x)
{
	size_t size = (size_t)x->buffer[0] << 8 | x->buffer[1];
	uint8_t *larger = size < DNS_HEADER_SIZE ? NULL : realloc(x->buffer, 2 + size);

	if (!larger)
		return false;
	x->buffer = larger;
	x->size = 2 + size;
	return true;
}

/* Takes what send(2) or recv(2) said. False: there is nothing new, or another try has begun. */
static bool advance(struct dns_exchange *x, ssize_t size)
{
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (size <= 0) {
		next_try(x);
		return false;
	}
	x->at += (size_t)size;
	return true;
}

static void on_stream_readable(struct dns_exchange *x)
{
	if (!advance(x, recv(x->fd, x->buffer + x->at, x->size - x->at, 0)))
		return;
	if (x->at == 2 && x->size == 2) {
		if (!make_room(x))
			next_try(x);
	} else if (x->at == x->size) {
		take(x, x->buffer + 2, x->size - 2);
	}
}

static void on_stream(evutil_socket_t fd, short what, void *context)
{
	TURN("dns answer");
	struct dns_exchange *x = context;

	if (what & EV_READ) {
		on_stream_readable(x);
		return;
	}
	if (!advance(x, send(fd, x->buffer + x->at, x->size - x->at, MSG_NOSIGNAL)) ||
	    x->at < x->size)
		return;
	x->at = 0;
	x->size = 2;
	if (watch(x, EV_READ, on_stream) < 0)
		next_try(x);
}

/* In what is left of this try's time. */
static void by_stream(struct dns_exchange *x)
{
	size_t size;

	x->stream = true;
	if (call(x, SOCK_STREAM) == 0)
		x->buffer = malloc(2 + DNS_QUERY_MAX);
	if (!x->buffer) {
		next_try(x);
		return;
	}
	size = dns_query_write(&x->query, x->buffer + 2);
	x->buffer[0] = (uint8_t)(size >> 8);
	x->buffer[1] = (uint8_t)size;
	x->size = 2 + size;
	x->at = 0;
	if (watch(x, EV_WRITE, on_stream) < 0)
		next_try(x);
}

/* --- tries -------------------------------------------------------------------------------- */

static void next_try(struct dns_exchange *x)
{
	const struct timeval after = {DNS_TRY_MSEC / 1000, DNS_TRY_MSEC % 1000 * 1000}, now = {0};

	hang_up(x);
	if (x->tries == DNS_TRIES) {
		finish(x, NULL);
		return;
	}
	x->tries++;
	/* A server that cannot be reached has had its turn. */
	evtimer_add(x->timer, by_datagram(x) < 0 ? &now : &after);
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
	TURN("dns answer");
	(void)fd;
	(void)what;
	next_try(context);
}

int dns_exchange_start(struct event_base *base, const struct dns_servers *servers,
		       const struct dns_reader *reader, const struct dns_query *query,
		       dns_exchange_done done, void *context, struct dns_exchange **ret_exchange)
{
	const struct timeval now = {0};
	struct dns_exchange *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	x->base = base;
	x->servers = *servers;
	x->reader = *reader;
	x->query = *query;
	x->done = done;
	x->context = context;
	x->fd = -1;
	x->timer = evtimer_new(base, on_timer, x);
	if (!x->timer || evtimer_add(x->timer, &now) < 0) {
		dns_exchange_free(x);
		return -ENOMEM;
	}
	*ret_exchange = x;
	return 0;
}
