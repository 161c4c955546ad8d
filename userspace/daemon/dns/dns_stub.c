/* SPDX-License-Identifier: Apache-2.0 */
/* The DNS server of executions whose policies name hosts. */
#include "daemon/dns/dns_stub.h"

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/dns/dns_stub_parts.h"
#include "daemon/host/turn.h"

/* Before the loop goes on. */
#define DATAGRAMS_AT_ONCE 16
#define SWEEP_AT_ONCE	  1024u
#define SWEEP_SECONDS	  2
#define BACKLOG		  64

static void start_sweeping(struct dns_stub *stub)
{
	const struct timeval after = {.tv_sec = SWEEP_SECONDS};

	if (!evtimer_pending(stub->sweep, NULL))
		evtimer_add(stub->sweep, &after);
}

/* --- who asks ----------------------------------------------------------------------------- */

static void key_of(const struct sockaddr *from, uint8_t protocol,
		   struct cordon_stub_client_key *ret_key)
{
	*ret_key = (struct cordon_stub_client_key){.protocol = protocol};
	if (from->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const void *)from;

		ret_key->family = 4;
		ret_key->port = v4->sin_port;
		memcpy(ret_key->address, &v4->sin_addr, 4);
	} else {
		const struct sockaddr_in6 *v6 = (const void *)from;

		ret_key->family = 6;
		ret_key->port = v6->sin6_port;
		memcpy(ret_key->address, &v6->sin6_addr, 16);
	}
}

static struct dns_client *client_of(struct dns_stub *stub, const struct execution *e)
{
	struct dns_client *client = stub->clients[e->slot];

	if (!client)
		client = stub->clients[e->slot] = calloc(1, sizeof(*client));
	if (client && client->generation != e->generation)
		*client = (struct dns_client){
			.generation = e->generation,
			.tokens = DNS_BURST * NSEC_PER_SEC,
			.filled = clock_nsec(CLOCK_BOOTTIME),
		};
	return client;
}

bool dns_asker_find(struct dns_stub *stub, const struct sockaddr *from, uint8_t protocol,
		    uint64_t received, struct dns_asker *ret_asker)
{
	struct daemon *daemon = stub->daemon;
	struct cordon_stub_client_key key;
	struct cordon_stub_client known;
	struct execution *e;

	key_of(from, protocol, &key);
	if (enforcement_stub_client(daemon->enforcement, &key, &known) < 0 ||
	    known.maker.slot >= CORDON_MAX_EXECUTIONS || (received && known.time > received))
		return false;
	e = daemon->by_slot[known.maker.slot];
	if (!e || e->generation != known.maker.generation || e->state != EXECUTION_LIVE)
		return false;
	ret_asker->execution = e;
	ret_asker->client = client_of(stub, e);
	ret_asker->maker = known.maker;
	return ret_asker->client != NULL;
}

bool dns_asker_may_ask(struct dns_asker *asker)
{
	struct dns_client *client = asker->client;
	uint64_t now = clock_nsec(CLOCK_BOOTTIME), gone = now - client->filled;

	client->filled = now;
	client->tokens +=
		(gone < DNS_BURST * NSEC_PER_SEC ? gone : DNS_BURST * NSEC_PER_SEC) * DNS_A_SECOND;
	if (client->tokens > DNS_BURST * NSEC_PER_SEC)
		client->tokens = DNS_BURST * NSEC_PER_SEC;
	if (client->tokens < NSEC_PER_SEC)
		return false;
	client->tokens -= NSEC_PER_SEC;
	return true;
}

void dns_pause_streams(struct dns_stub *stub)
{
	for (int i = 0; i < DNS_FAMILIES; i++)
		if (stub->connections[i])
			event_del(stub->connections[i]);
	start_sweeping(stub);
}

/* --- queries ------------------------------------------------------------------------------ */

/* A query that is read, and then what the host's servers are asked. */
struct dns_waiting {
	LIST_ENTRY(dns_waiting) link;
	struct dns_stub *stub;
	uint32_t slot, generation;
	struct cordon_event maker;
	struct dns_way way;
	uid_t uid; /* whose reader reads it */
	struct dns_query query;
	struct reader_question *reading;   /* NULL: it is read */
	struct dns_exchange *exchange;	   /* NULL: not begun, or done */
	bool among_reading, among_waiting; /* it is counted there */
};

static void answer(const struct dns_way *way, const struct dns_query *query,
		   const struct dns_answer *dns)
{
	uint8_t data[DNS_ANSWER_MAX];
	size_t size = dns_answer_write(query, dns, data,
				       way->datagram_fd >= 0 ? DNS_PLAIN_MAX : sizeof(data));

	if (size == 0)
		return;
	if (way->datagram_fd < 0)
		dns_stream_answer(way->stream, data, size);
	else
		(void)sendto(way->datagram_fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL,
			     (const struct sockaddr *)&way->to, way->to_size);
}

static void answer_code(const struct dns_way *way, const struct dns_query *query,
			enum dns_code code)
{
	const struct dns_answer dns = {.code = code};

	answer(way, query, &dns);
}

/* Among those that are read, or that wait. False: there are enough. */
static bool count_among(struct dns_waiting *w, bool reading)
{
	struct dns_stub *stub = w->stub;
	struct dns_client *client = stub->clients[w->slot];
	unsigned int *all = reading ? &stub->reading_count : &stub->waiting_count;
	uint32_t *its = reading ? &client->reading : &client->waiting;

	if (*all >= (reading ? DNS_READING_MAX : DNS_WAITING_MAX) ||
	    *its >= (reading ? DNS_BURST : DNS_WAITING_EACH))
		return false;
	++*all;
	++*its;
	return true;
}

static void no_more_among(struct dns_waiting *w, bool reading)
{
	struct dns_stub *stub = w->stub;
	struct dns_client *client = stub->clients[w->slot];

	--*(reading ? &stub->reading_count : &stub->waiting_count);
	if (client && client->generation == w->generation)
		--*(reading ? &client->reading : &client->waiting);
}

static void forget(struct dns_waiting *w)
{
	LIST_REMOVE(w, link);
	if (w->among_reading)
		no_more_among(w, true);
	if (w->among_waiting)
		no_more_among(w, false);
	readers_cancel(w->reading);
	if (w->exchange)
		dns_exchange_free(w->exchange);
	free(w);
}

static struct execution *still_there(const struct dns_waiting *w)
{
	struct execution *e = w->stub->daemon->by_slot[w->slot];

	return e && e->generation == w->generation && e->state == EXECUTION_LIVE ? e : NULL;
}

/* Whoever gets an answer finds its addresses installed. */
static enum dns_code admit(struct dns_waiting *w, struct execution *e, struct dns_answer *dns)
{
	struct dns_asker asker = {e, client_of(w->stub, e), w->maker};

	if (!asker.client)
		return DNS_CODE_SERVER_FAILURE;
	/* The policy may be another one by now. */
	if (!dns_name_allowed(&asker, w->query.name) || dns_aliases_denied(&asker, dns))
		return DNS_CODE_REFUSED;
	if (dns->code != DNS_CODE_FINE && dns->code != DNS_CODE_NO_NAME)
		return DNS_CODE_SERVER_FAILURE;
	return dns_install(&asker, w->query.name, dns) < 0 ? DNS_CODE_SERVER_FAILURE : dns->code;
}

static void on_answer(const struct dns_answer *from_server, void *context)
{
	struct dns_waiting *w = context;
	struct dns_stub *stub = w->stub;
	struct execution *e = still_there(w);
	struct dns_answer dns = {.code = DNS_CODE_SERVER_FAILURE};

	w->exchange = NULL;
	if (e && from_server) {
		dns = *from_server;
		dns.code = admit(w, e, &dns);
		if (dns.code != DNS_CODE_FINE)
			dns.address_count = 0;
		start_sweeping(stub);
	}
	if (dns.code == DNS_CODE_REFUSED)
		stub->counts.refused++;
	else if (dns.code == DNS_CODE_SERVER_FAILURE)
		stub->counts.failed++;
	else
		stub->counts.answered++;
	if (e)
		answer(&w->way, &w->query, &dns);
	forget(w);
}

/*
 * One whose first process an executor has started was asked for by nobody: it is whose code it
 * runs.
 */
static uid_t user_of(const struct execution *e)
{
	return e->adopted ? e->record.uid : e->owner.uid;
}

static bool forward(struct dns_waiting *w, const struct execution *e)
{
	struct dns_stub *stub = w->stub;
	const struct dns_reader reader = {stub->answer_readers, user_of(e)};

	w->among_waiting = count_among(w, false);
	if (!w->among_waiting)
		return false;
	dns_servers_refresh(&stub->servers);
	if (dns_exchange_start(stub->daemon->base, &stub->servers, &reader, &w->query, on_answer, w,
			       &w->exchange) < 0)
		return false;
	stub->counts.forwarded++;
	return true;
}

/* True: its servers are asked, so that there is an answer later. */
static bool judge(struct dns_waiting *w, struct execution *e, bool understood)
{
	struct dns_stub *stub = w->stub;
	struct dns_asker asker = {e, client_of(stub, e), w->maker};

	if (!understood) {
		stub->counts.failed++;
		answer_code(&w->way, &w->query, DNS_CODE_FORMAT);
	} else if (!asker.client) {
		stub->counts.failed++;
		answer_code(&w->way, &w->query, DNS_CODE_SERVER_FAILURE);
	} else if (!dns_name_allowed(&asker, w->query.name)) {
		stub->counts.refused++;
		answer_code(&w->way, &w->query, DNS_CODE_REFUSED);
	} else if (w->query.type != DNS_TYPE_A && w->query.type != DNS_TYPE_AAAA) {
		/* Nobody is asked: for all that the execution may know there are none. */
		stub->counts.answered++;
		answer_code(&w->way, &w->query, DNS_CODE_FINE);
	} else if (forward(w, e)) {
		return true;
	} else {
		stub->counts.failed++;
		answer_code(&w->way, &w->query, DNS_CODE_SERVER_FAILURE);
	}
	return false;
}

static void on_read(void *context, const struct reader_answer *said)
{
	struct dns_waiting *w = context;
	struct dns_stub *stub = w->stub;
	struct execution *e = still_there(w);
	struct dns_stream *stream = w->way.datagram_fd < 0 ? w->way.stream : NULL;
	const struct dns_reader reader = {stub->query_readers, w->uid};
	int r = dns_reader_query(&reader, said, &w->query);

	w->reading = NULL;
	no_more_among(w, true);
	w->among_reading = false;
	if (e && r != -EBADMSG) {
		if (!judge(w, e, r == 0))
			forget(w);
		return;
	}
	stub->counts.dropped++;
	forget(w);
	if (stream)
		dns_stream_close(stream);
}

bool dns_serve(struct dns_stub *stub, struct dns_asker *asker, const struct dns_way *way,
	       const uint8_t *data, size_t size)
{
	const struct dns_reader reader = {stub->query_readers, user_of(asker->execution)};
	struct dns_waiting *w = calloc(1, sizeof(*w));

	stub->counts.queries++;
	if (!w) {
		stub->counts.dropped++;
		return false;
	}
	*w = (struct dns_waiting){
		.stub = stub,
		.slot = asker->execution->slot,
		.generation = asker->execution->generation,
		.maker = asker->maker,
		.way = *way,
		.uid = reader.uid,
	};
	LIST_INSERT_HEAD(&stub->waiting, w, link);
	w->among_reading = count_among(w, true);
	if (w->among_reading &&
	    dns_reader_ask_query(&reader, data, size, on_read, w, &w->reading) == 0)
		return true;
	stub->counts.dropped++;
	forget(w);
	return false;
}

void dns_forget_stream(struct dns_stub *stub, const struct dns_stream *stream)
{
	struct dns_waiting *w, *next;

	for (w = LIST_FIRST(&stub->waiting); w; w = next) {
		next = LIST_NEXT(w, link);
		if (w->way.datagram_fd < 0 && w->way.stream == stream)
			forget(w);
	}
}

void dns_forget_all(struct dns_stub *stub)
{
	while (!LIST_EMPTY(&stub->waiting))
		forget(LIST_FIRST(&stub->waiting));
}

/* --- datagrams ---------------------------------------------------------------------------- */

/* When the kernel took it, on the boot clock; 0: it does not say. */
static uint64_t arrival(struct msghdr *message)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		struct timespec then;
		uint64_t real;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&then, CMSG_DATA(c), sizeof(then));
		real = timespec_nsec(&then);
		return real - (clock_nsec(CLOCK_REALTIME) - clock_nsec(CLOCK_BOOTTIME));
	}
	return 0;
}

/* False: there is none any more. */
static bool serve_datagram(struct dns_stub *stub, int fd)
{
	struct dns_way way = {.datagram_fd = fd};
	char control[CMSG_SPACE(sizeof(struct timespec))];
	uint8_t data[DNS_ANSWER_MAX];
	struct iovec part = {data, sizeof(data)};
	struct msghdr message = {
		.msg_name = &way.to,
		.msg_namelen = sizeof(way.to),
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct dns_asker asker;
	ssize_t size = recvmsg(fd, &message, MSG_DONTWAIT);

	if (size < 0)
		return errno == EINTR;
	way.to_size = message.msg_namelen;
	if ((message.msg_flags & MSG_TRUNC) ||
	    !dns_asker_find(stub, (const struct sockaddr *)&way.to, IPPROTO_UDP, arrival(&message),
			    &asker) ||
	    !dns_asker_may_ask(&asker))
		stub->counts.dropped++;
	else
		(void)dns_serve(stub, &asker, &way, data, (size_t)size);
	return true;
}

static void on_datagram(evutil_socket_t fd, short what, void *context)
{
	TURN("dns");
	(void)what;
	for (int i = 0; i < DATAGRAMS_AT_ONCE; i++)
		if (!serve_datagram(context, fd))
			return;
}

/* --- setting up --------------------------------------------------------------------------- */

static void on_sweep(evutil_socket_t fd, short what, void *context)
{
	struct dns_stub *stub = context;

	(void)fd;
	(void)what;
	for (int i = 0; i < DNS_FAMILIES; i++)
		if (stub->connections[i])
			event_add(stub->connections[i], NULL);
	if (enforcement_hosts_sweep(stub->daemon->enforcement, clock_nsec(CLOCK_BOOTTIME),
				    SWEEP_AT_ONCE))
		start_sweeping(stub);
}

static int bind_loopback(int family, int type, uint16_t port, int *ret_fd, uint16_t *ret_port)
{
	struct sockaddr_in v4 = {
		.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_storage bound = {};
	socklen_t size = family == AF_INET ? sizeof(v4) : sizeof(v6);
	_cleanup_(closep) int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0 ||
	    bind(fd, family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6, size) < 0)
		return -errno;
	if (type == SOCK_STREAM ? listen(fd, BACKLOG) < 0
				: setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) < 0)
		return -errno;
	size = sizeof(bound);
	if (getsockname(fd, (struct sockaddr *)&bound, &size) < 0)
		return -errno;
	*ret_port = family == AF_INET ? ((struct sockaddr_in *)&bound)->sin_port
				      : ((struct sockaddr_in6 *)&bound)->sin6_port;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* The same port for both protocols: resolvers that get a cut answer ask there again. */
#define PORT_ATTEMPTS 32

static int open_family(struct dns_stub *stub, enum dns_family which, uint16_t *ret_port)
{
	int family = which == DNS_V4 ? AF_INET : AF_INET6, r = -EADDRINUSE;
	uint16_t port = 0, again;

	for (int i = 0; i < PORT_ATTEMPTS && r == -EADDRINUSE; i++) {
		closep(&stub->datagram_fd[which]);
		stub->datagram_fd[which] = -1;
		r = bind_loopback(family, SOCK_DGRAM, 0, &stub->datagram_fd[which], &port);
		if (r == 0)
			r = bind_loopback(family, SOCK_STREAM, port, &stub->stream_fd[which],
					  &again);
	}
	if (r == 0)
		*ret_port = port;
	return r;
}

static int watch(struct dns_stub *stub)
{
	struct event_base *base = stub->daemon->base;

	stub->sweep = evtimer_new(base, on_sweep, stub);
	if (!stub->sweep)
		return -ENOMEM;
	for (int i = 0; i < DNS_FAMILIES; i++) {
		if (stub->stream_fd[i] < 0)
			continue;
		stub->datagrams[i] = event_new(base, stub->datagram_fd[i], EV_READ | EV_PERSIST,
					       on_datagram, stub);
		stub->connections[i] = event_new(base, stub->stream_fd[i], EV_READ | EV_PERSIST,
						 dns_stream_accept, stub);
		if (!stub->datagrams[i] || !stub->connections[i] ||
		    event_add(stub->datagrams[i], NULL) < 0 ||
		    event_add(stub->connections[i], NULL) < 0)
			return -ENOMEM;
	}
	return 0;
}

int dns_stub_start(struct daemon *daemon, struct dns_stub **ret_stub, struct failure *failure)
{
	const struct readers_options queries = {
		.base = daemon->base,
		.option = READER_DNS_QUERIES,
		.turn = "dns",
		.seconds = READER_SECONDS,
	};
	const struct readers_options answers = {
		.base = daemon->base,
		.option = READER_DNS_ANSWERS,
		.turn = "dns answer",
		.seconds = READER_SECONDS,
	};
	struct dns_stub *stub = calloc(1, sizeof(*stub));
	struct cordon_stub ports = {};
	int r;

	if (!stub)
		return failure_set(failure, ENOMEM, "%m");
	stub->daemon = daemon;
	for (int i = 0; i < DNS_FAMILIES; i++)
		stub->datagram_fd[i] = stub->stream_fd[i] = -1;
	LIST_INIT(&stub->waiting);
	LIST_INIT(&stub->streams);
	r = readers_new(&queries, &stub->query_readers, failure);
	if (r == 0)
		r = readers_new(&answers, &stub->answer_readers, failure);
	if (r < 0) {
		dns_stub_free(stub);
		return r;
	}
	r = open_family(stub, DNS_V4, &ports.port_v4);
	/* A host without IPv6 has no executions that ask over it. */
	if (r == 0)
		(void)open_family(stub, DNS_V6, &ports.port_v6);
	if (r == 0)
		r = watch(stub);
	if (r == 0)
		r = enforcement_set_stub(daemon->enforcement, &ports);
	if (r < 0) {
		r = failure_set(failure, r, "cannot open the DNS stub: %m");
		dns_stub_free(stub);
		return r;
	}
	/* What an earlier daemon has left. */
	start_sweeping(stub);
	*ret_stub = stub;
	return 0;
}

void dns_stub_free(struct dns_stub *stub)
{
	const struct cordon_stub none = {};

	(void)enforcement_set_stub(stub->daemon->enforcement, &none);
	dns_streams_close(stub);
	dns_forget_all(stub);
	for (int i = 0; i < DNS_FAMILIES; i++) {
		if (stub->datagrams[i])
			event_free(stub->datagrams[i]);
		if (stub->connections[i])
			event_free(stub->connections[i]);
	}
	if (stub->sweep)
		event_free(stub->sweep);
	for (int i = 0; i < DNS_FAMILIES; i++) {
		closep(&stub->datagram_fd[i]);
		closep(&stub->stream_fd[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(stub->clients); i++)
		free(stub->clients[i]);
	readers_free(stub->query_readers);
	readers_free(stub->answer_readers);
	free(stub);
}

json_t *dns_stub_json(const struct dns_stub *stub)
{
	const struct dns_counts *c = &stub->counts;

	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:i}", "queries", (json_int_t)c->queries,
			 "forwarded", (json_int_t)c->forwarded, "answered", (json_int_t)c->answered,
			 "refused", (json_int_t)c->refused, "failed", (json_int_t)c->failed,
			 "dropped", (json_int_t)c->dropped, "waiting", (int)stub->waiting_count);
}
