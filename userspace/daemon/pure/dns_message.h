/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS messages (RFC 1035) as far as a stub needs them: one question for an address, and answers
 * that are addresses or aliases. Pure: buffers in, structs out. Whatever comes in may be malformed.
 */
#ifndef CORDON_DAEMON_DNS_MESSAGE_H
#define CORDON_DAEMON_DNS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/source/host_name.h"

#define DNS_HEADER_SIZE	  12
#define DNS_QUERY_MAX	  (DNS_HEADER_SIZE + 255 + 4 + 11)
#define DNS_ANSWER_MAX	  4096 /* of an upstream server; asked for by EDNS (RFC 6891) */
#define DNS_PLAIN_MAX	  512  /* of an answer over UDP to whoever does not say more */
#define DNS_ADDRESSES_MAX 16
#define DNS_ALIASES_MAX	  8

enum dns_type {
	DNS_TYPE_A = 1,
	DNS_TYPE_CNAME = 5,
	DNS_TYPE_AAAA = 28,
};

enum dns_code {
	DNS_CODE_FINE = 0,
	DNS_CODE_FORMAT = 1,
	DNS_CODE_SERVER_FAILURE = 2,
	DNS_CODE_NO_NAME = 3,
	DNS_CODE_NOT_IMPLEMENTED = 4,
	DNS_CODE_REFUSED = 5,
};

struct dns_query {
	uint16_t id;
	uint16_t type;		   /* any number */
	uint8_t recursion;	   /* 0 or 1 */
	char name[HOST_NAME_SIZE]; /* as host_name_read() leaves it */
};

/*
 * A query with one question of class IN.
 * -EBADMSG: no DNS query at all, to be ignored; -EINVAL: to be answered with DNS_CODE_FORMAT:
 * ret_query
 * has the id, and a name that is no host name is left empty.
 */
int dns_query_read(const uint8_t *data, size_t size, struct dns_query *ret_query);

/* Is that what dns_query_read() may leave, whoever says that it did? */
bool dns_query_is_possible(const struct dns_query *query);

/* The query to an upstream server. Returns its size. */
size_t dns_query_write(const struct dns_query *query, uint8_t buffer[DNS_QUERY_MAX]);

struct dns_address {
	uint8_t family;	     /* 4 or 6 */
	uint8_t address[16]; /* network order */
};

struct dns_answer {
	enum dns_code code;
	uint8_t truncated; /* 0 or 1 */
	uint32_t ttl;	   /* seconds: the shortest on the way to the addresses */
	size_t address_count;
	struct dns_address addresses[DNS_ADDRESSES_MAX];
	size_t alias_count;
	char aliases[DNS_ALIASES_MAX][HOST_NAME_SIZE]; /* that the name led over, in order */
};

/*
 * What a server's message answers to `query`: addresses of its type that belong to its name, or to
 * one that its aliases lead to. Others are left out. -EBADMSG: malformed, or no answer to this
 * query;
 * -ELOOP: more aliases than DNS_ALIASES_MAX.
 */
int dns_answer_read(const uint8_t *data, size_t size, const struct dns_query *query,
		    struct dns_answer *ret_answer);

/* Is that what dns_answer_read() may leave of an answer to the query? */
bool dns_answer_is_possible(const struct dns_answer *answer, const struct dns_query *query);

/*
 * The answer to a client, at most `size` bytes: addresses that have no room are left out. Returns
 * its size.
 */
size_t dns_answer_write(const struct dns_query *query, const struct dns_answer *answer,
			uint8_t *buffer, size_t size);

#endif
