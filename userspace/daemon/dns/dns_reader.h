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

/* As readers_ask(); -E2BIG: that is no message. */
int dns_reader_ask_query(const struct dns_reader *reader, const uint8_t *data, size_t size,
			 reader_answered *done, void *context,
			 struct reader_question **ret_question);
int dns_reader_ask_answer(const struct dns_reader *reader, const uint8_t *data, size_t size,
			  const struct dns_query *query, reader_answered *done, void *context,
			  struct reader_question **ret_question);

/*
 * In `done`: as dns_query_read() of what was asked about. Whatever kept it from being read is
 * -EBADMSG, too.
 */
int dns_reader_query(const struct dns_reader *reader, const struct reader_answer *said,
		     struct dns_query *ret_query);

/* As dns_answer_read(), likewise. */
int dns_reader_answer(const struct dns_reader *reader, const struct reader_answer *said,
		      const struct dns_query *query, struct dns_answer *ret_answer);

#endif
