/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS over TCP from executions: messages with their length before them (RFC 7766), one after the
 * other.
 */
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "daemon/dns/dns_stub_parts.h"
#include "daemon/host/turn.h"

/* For the next message, and for taking an answer. */
#define IDLE_SECONDS 10

struct dns_stream {
	LIST_ENTRY(dns_stream) link;
	struct dns_stub *stub;
	struct sockaddr_storage from;
	uint32_t slot, generation;
	int fd;
	struct event *readable, *writable;
	size_t in_size;
	uint8_t in[2 + DNS_QUERY_MAX];
	size_t out_at, out_size;
	uint8_t out[2 + DNS_ANSWER_MAX];
};

void dns_stream_close(struct dns_stream *s)
{
	struct dns_stub *stub = s->stub;
	struct dns_client *client = stub->clients[s->slot];

	LIST_REMOVE(s, link);
	stub->stream_count--;
	if (client && client->generation == s->generation)
		client->streams--;
	dns_forget_stream(stub, s);
	if (s->readable)
		event_free(s->readable);
	if (s->writable)
		event_free(s->writable);
	closep(&s->fd);
	free(s);
}

void dns_streams_close(struct dns_stub *stub)
{
	while (!LIST_EMPTY(&stub->streams))
		dns_stream_close(LIST_FIRST(&stub->streams));
}

static void listen_on(struct dns_stream *s)
{
	const struct timeval patience = {.tv_sec = IDLE_SECONDS};

	if (event_add(s->readable, &patience) < 0)
		dns_stream_close(s);
}

/* The asker as of this message: its execution may have ended, or its policy changed. */
static bool serve(struct dns_stream *s, const uint8_t *data, size_t size)
{
	const struct dns_way way = {.datagram_fd = -1, .stream = s};
	struct dns_asker asker;

	return dns_asker_find(s->stub, (const struct sockaddr *)&s->from, IPPROTO_TCP, 0, &asker) &&
	       asker.execution->slot == s->slot && asker.execution->generation == s->generation &&
	       dns_asker_may_ask(&asker) && dns_serve(s->stub, &asker, &way, data, size);
}

static void on_readable(evutil_socket_t fd, short what, void *context)
{
	TURN("dns");
	struct dns_stream *s = context;
	size_t wanted = s->in_size < 2 ? 2 : 2 + ((size_t)s->in[0] << 8 | s->in[1]);
	ssize_t size;

	if (what & EV_TIMEOUT) {
		dns_stream_close(s);
		return;
	}
	size = recv(fd, s->in + s->in_size, wanted - s->in_size, 0);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size <= 0) {
		dns_stream_close(s);
		return;
	}
	s->in_size += (size_t)size;
	if (s->in_size < 2)
		return;
	wanted = 2 + ((size_t)s->in[0] << 8 | s->in[1]);
	if (wanted > sizeof(s->in)) {
		dns_stream_close(s);
		return;
	}
	if (s->in_size < wanted)
		return;
	s->in_size = 0;
	event_del(s->readable);
	if (!serve(s, s->in + 2, wanted - 2))
		dns_stream_close(s);
}

static void send_rest(struct dns_stream *s)
{
	const struct timeval patience = {.tv_sec = IDLE_SECONDS};
	ssize_t size = send(s->fd, s->out + s->out_at, s->out_size - s->out_at,
			    MSG_DONTWAIT | MSG_NOSIGNAL);

	if (size > 0)
		s->out_at += (size_t)size;
	if (s->out_at == s->out_size) {
		listen_on(s);
	} else if ((size < 0 && errno != EAGAIN && errno != EINTR) ||
		   event_add(s->writable, &patience) < 0) {
		dns_stream_close(s);
	}
}

static void on_writable(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	if (what & EV_TIMEOUT)
		dns_stream_close(context);
	else
		send_rest(context);
}

/* Goes out from the loop: whoever calls holds the stream. */
void dns_stream_answer(struct dns_stream *s, const uint8_t *data, size_t size)
{
	s->out[0] = (uint8_t)(size >> 8);
	s->out[1] = (uint8_t)size;
	memcpy(s->out + 2, data, size);
	s->out_size = 2 + size;
	s->out_at = 0;
	event_active(s->writable, EV_WRITE, 0);
}

static int add_stream(struct dns_stub *stub, int fd, const struct sockaddr_storage *from)
{
	struct dns_asker asker;
	struct dns_stream *s;

	if (!dns_asker_find(stub, (const struct sockaddr *)from, IPPROTO_TCP, 0, &asker) ||
	    stub->stream_count >= DNS_STREAMS_MAX || asker.client->streams >= DNS_STREAMS_EACH)
		return -EUSERS;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->stub = stub;
	s->from = *from;
	s->slot = asker.execution->slot;
	s->generation = asker.execution->generation;
	s->fd = fd;
	s->readable = event_new(stub->daemon->base, fd, EV_READ | EV_PERSIST, on_readable, s);
	s->writable = event_new(stub->daemon->base, fd, EV_WRITE, on_writable, s);
	LIST_INSERT_HEAD(&stub->streams, s, link);
	stub->stream_count++;
	asker.client->streams++;
	if (!s->readable || !s->writable)
		dns_stream_close(s);
	else
		listen_on(s);
	return 0;
}

/* One at a time: while others wait, the loop comes back. */
void dns_stream_accept(evutil_socket_t listener, short what, void *context)
{
	struct dns_stub *stub = context;
	struct sockaddr_storage from = {};
	socklen_t size = sizeof(from);
	int fd = accept4(listener, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)what;
	if (fd < 0) {
		/* Out of descriptors, say: what waits would be reported for ever. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			dns_pause_streams(stub);
		return;
	}
	if (add_stream(stub, fd, &from) < 0) {
		stub->counts.dropped++;
		close(fd);
	}
}
