/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that reads what comes from outside, on behalf of one user: without privileges,
 * without files, without anything but its socket. It gets bytes and gives back what they say in a
 * form that needs no parser, or what is wrong with them. Who has sent them, and which descriptors
 * came along, it is not told and cannot say: whoever takes it over can ask for what that user could
 * ask for anyway.
 */
#ifndef CORDON_DAEMON_READER_PROCESS_H
#define CORDON_DAEMON_READER_PROCESS_H

#include <stdint.h>

#include "daemon/pure/dns_message.h"
#include "control/protocol.h"

/* No user has it; the log's writers have the one before. */
#define READER_UID 65531

/* A message of DNS over TCP (RFC 7766). */
#define READER_DNS_MAX 65535u

/*
 * What they are started with: only for whoever looks at the processes; all of them can read
 * everything.
 */
#define READER_REQUESTS	   "--request-reader"
#define READER_DNS_QUERIES "--dns-query-reader"
#define READER_DNS_ANSWERS "--dns-answer-reader"

enum reader_kind {
	/*
	 * A client's packet; of it, a message as message_codec.h says, or text that says what is
	 * wrong.
	 */
	READER_REQUEST,
	/* An execution's query; of it, struct dns_query, with -EINVAL as well. */
	READER_DNS_QUERY,
	/* The struct dns_query, and a server's answer to it; of both, struct dns_answer. */
	READER_DNS_ANSWER,
};

#define READER_INPUT_MAX (PROTOCOL_MAX_PACKET + sizeof(struct dns_query))
_Static_assert(READER_DNS_MAX <= PROTOCOL_MAX_PACKET, "room for either");

struct reader_input {
	uint32_t kind; /* enum reader_kind */
	uint32_t size; /* what follows */
};

struct reader_reply {
	int32_t result; /* 0, or -errno */
	uint32_t size;	/* what follows */
};

/* Serves until the daemon closes the socket; returns an exit status. */
int reader_process(void);

#endif
