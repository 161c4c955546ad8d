/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS messages of executions and of servers, read by processes without privileges: see
 * reader_process.h. Queries and answers have their own, so that whoever takes over what reads his
 * queries does not say which addresses names have.
 */
#ifndef CORDON_DAEMON_DNS_READER_H
#define CORDON_DAEMON_DNS_READER_H

#include <sys/types.h>

#include "daemon/pure/dns_message.h"
#include "daemon/privsep/readers.h"

/* Whose executions ask. */
struct dns_reader {
	struct readers *readers;
	uid_t uid;
};

/* As dns_query_read(). Whatever keeps it from being read is -EBADMSG, too. */
int dns_reader_query(const struct dns_reader *reader, const uint8_t *data, size_t size,
		     struct dns_query *ret_query);

/* As dns_answer_read(), likewise. */
int dns_reader_answer(const struct dns_reader *reader, const uint8_t *data, size_t size,
		      const struct dns_query *query, struct dns_answer *ret_answer);

#endif
