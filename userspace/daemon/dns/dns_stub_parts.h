/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the DNS stub share: see daemon/dns/dns_stub.h. */
#ifndef CORDON_DAEMON_DNS_STUB_PARTS_H
#define CORDON_DAEMON_DNS_STUB_PARTS_H

#include <sys/queue.h>
#include <sys/socket.h>

#include "daemon/dns/dns_exchange.h"
#include "daemon/pure/dns_message.h"
#include "daemon/dns/dns_stub.h"
#include "daemon/execution/execution.h"

/* Queries on their way to the host's servers: of all executions, and of each. */
#define DNS_WAITING_MAX	 512u
#define DNS_WAITING_EACH 32u

/* Those that are still to be read: of all executions; each has DNS_BURST of them at most. */
#define DNS_READING_MAX 4096u

/* TCP connections of clients likewise. */
#define DNS_STREAMS_MAX	 128u
#define DNS_STREAMS_EACH 8u

/* Queries of an execution: so many at once, and so many a second in the long run. */
#define DNS_BURST    200u
#define DNS_A_SECOND 100u

/* Seconds that an answer's addresses hold, whatever it says itself. */
#define DNS_TTL_LEAST 5u
#define DNS_TTL_MOST  3600u

enum dns_family { DNS_V4, DNS_V6, DNS_FAMILIES };

struct dns_counts {
	uint64_t queries;
	uint64_t forwarded;
	uint64_t answered; /* with addresses, or that there are none */
	uint64_t refused;  /* names that the policy does not allow */
	uint64_t failed;   /* no server answered, or there was no room for the addresses */
	uint64_t dropped;  /* malformed, of nobody known, or too many */
};

/* A refusal that was put on record, so that repeating it is only counted. */
#define DNS_RECENT 8u

struct dns_recent {
	uint64_t name;	/* a digest */
	uint64_t until; /* boot clock, ns */
	uint32_t repeats;
};

/*
 * An answer that was put on record: given again before half its time is over, it ends with the
 * record.
 */
#define DNS_GIVEN 32u

struct dns_given {
	uint64_t answer; /* a digest of the name and its addresses */
	uint64_t until;	 /* boot clock, ns */
	uint64_t renew;
};

/* What the stub knows of the execution in a slot. */
struct dns_client {
	uint32_t generation;
	uint32_t reading, waiting, streams;
	uint64_t tokens; /* queries that it may send, times a second in ns */
	uint64_t filled; /* boot clock, ns */
	struct dns_recent recent[DNS_RECENT];
	unsigned int next_recent;
	struct dns_given given[DNS_GIVEN];
	unsigned int next_given;
};

struct dns_stream;
struct dns_waiting;

struct dns_stub {
	struct daemon *daemon;
	int datagram_fd[DNS_FAMILIES];
	int stream_fd[DNS_FAMILIES];
	struct event *datagrams[DNS_FAMILIES];
	struct event *connections[DNS_FAMILIES];
	struct event *sweep;
	struct dns_servers servers;
	struct readers *query_readers, *answer_readers;
	LIST_HEAD(, dns_waiting) waiting;
	LIST_HEAD(, dns_stream) streams;
	unsigned int reading_count, waiting_count, stream_count;
	struct dns_counts counts;
	struct dns_client *clients[CORDON_MAX_EXECUTIONS]; /* NULL: has not asked */
};

/* Who asked: an execution that is alive, and the process that made the socket. */
struct dns_asker {
	struct execution *execution;
	struct dns_client *client;
	struct cordon_event maker;
};

/*
 * The execution that sent from this address. `received`: boot clock, ns, or 0: now. False: none, or
 * another one has the address since.
 */
bool dns_asker_find(struct dns_stub *stub, const struct sockaddr *from, uint8_t protocol,
		    uint64_t received, struct dns_asker *ret_asker);

/* False: it has had its share of queries. */
bool dns_asker_may_ask(struct dns_asker *asker);

/* The way back of an answer. */
struct dns_way {
	int datagram_fd; /* -1: the stream */
	struct sockaddr_storage to;
	socklen_t to_size;
	struct dns_stream *stream;
};

/* One query, which is read first; false: it is nothing to be answered. */
bool dns_serve(struct dns_stub *stub, struct dns_asker *asker, const struct dns_way *way,
	       const uint8_t *data, size_t size);

/* Nobody waits for what the stream has asked any more. */
void dns_forget_stream(struct dns_stub *stub, const struct dns_stream *stream);

void dns_forget_all(struct dns_stub *stub);

/* No new ones for a moment. */
void dns_pause_streams(struct dns_stub *stub);

/* TCP: see dns_stream.c. */
void dns_stream_accept(evutil_socket_t listener, short what, void *context);
void dns_stream_answer(struct dns_stream *stream, const uint8_t *data, size_t size);
void dns_stream_close(struct dns_stream *stream);
void dns_streams_close(struct dns_stub *stub);

/* May the execution know this name? Refusals are put on record. */
bool dns_name_allowed(struct dns_asker *asker, const char *name);

/* Does a rule deny a name that the answer leads over? That is put on record, too. */
bool dns_aliases_denied(struct dns_asker *asker, const struct dns_answer *answer);

/*
 * Has the answer's addresses stand for the name, which is put on record; those of the host itself,
 * which names do not lead to, are taken out. The answer's time becomes the time that they hold.
 */
int dns_install(struct dns_asker *asker, const char *name, struct dns_answer *answer);

#endif
