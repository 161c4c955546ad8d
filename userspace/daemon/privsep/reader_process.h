/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser process: parses untrusted bytes for one user. It has no privileges and no descriptors
 * except its socket. It gets bytes, and returns their content in a form that needs no parser, or
 * the error in them. It does not know who sent them, or which descriptors came with them. So an
 * attacker who controls it can request only what its user can request anyway.
 */
#ifndef CORDON_DAEMON_READER_PROCESS_H
#define CORDON_DAEMON_READER_PROCESS_H

#include <stdint.h>

#include "daemon/pure/dns_message.h"
#include "control/protocol.h"

/* A UID that no user has. The log's writers have the UID before it. */
#define READER_UID 65531

/* A message of DNS over TCP (RFC 7766). */
#define READER_DNS_MAX 65535u

/*
 * Command line options of parser processes. They only help a person who lists the processes: each
 * of them can parse all kinds.
 */
#define READER_REQUESTS	   "--request-reader"
#define READER_DNS_QUERIES "--dns-query-reader"
#define READER_DNS_ANSWERS "--dns-answer-reader"

enum reader_kind {
	/*
	 * Input: a client's packet. Output: a message in the format of message_codec.h, or on
	 * failure the text of the error.
	 */
	READER_REQUEST,
	/* Input: an execution's query. Output: struct dns_query, also with -EINVAL. */
	READER_DNS_QUERY,
	/* Input: struct dns_query, and a server's reply. Output: struct dns_answer. */
	READER_DNS_ANSWER,
};

#define READER_INPUT_MAX (PROTOCOL_MAX_PACKET + sizeof(struct dns_query))
_Static_assert(READER_DNS_MAX <= PROTOCOL_MAX_PACKET, "room for either");

struct reader_input {
	uint32_t kind; /* enum reader_kind */
	uint32_t size; /* bytes that follow */
};

struct reader_reply {
	int32_t result; /* 0, or -errno */
	uint32_t size;	/* bytes that follow */
};

/* Serves until the daemon closes the socket; returns an exit status. */
int reader_process(void);

#endif
