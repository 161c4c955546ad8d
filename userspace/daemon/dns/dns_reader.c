/* SPDX-License-Identifier: Apache-2.0 */
/* Has DNS messages read by processes without privileges, and checks what those say. */
#include "daemon/dns/dns_reader.h"

#include <errno.h>
#include <string.h>

static struct iovec part(const void *data, size_t size)
{
	return (struct iovec){(void *)(uintptr_t)data, size};
}

/* Its reply is impossible for an honest reader: that process is used no longer. */
static int distrust(const struct dns_reader *reader)
{
	readers_distrust(reader->readers, reader->uid);
	return -EBADMSG;
}

/* 0: `said` has so many bytes; or what its reader says of the message. */
static int check(const struct dns_reader *reader, const struct reader_answer *said, size_t expected)
{
	const struct reader_reply *reply = &said->reply;

	if (said->result < 0)
		return -EBADMSG;
	if (reply->size == expected)
		return 0;
	if (reply->size == 0 && (reply->result == -EBADMSG || reply->result == -ELOOP))
		return reply->result;
	return distrust(reader);
}

int dns_reader_ask_query(const struct dns_reader *reader, const uint8_t *data, size_t size,
			 reader_answered *done, void *context,
			 struct reader_question **ret_question)
{
	const struct iovec packet = part(data, size);

	return size > READER_DNS_MAX ? -E2BIG
				     : readers_ask(reader->readers, reader->uid, READER_DNS_QUERY,
						   &packet, 1, done, context, ret_question);
}

int dns_reader_query(const struct dns_reader *reader, const struct reader_answer *said,
		     struct dns_query *ret_query)
{
	struct dns_query query;

	if (check(reader, said, sizeof(query)) < 0)
		return -EBADMSG;
	memcpy(&query, said->data, sizeof(query));
	if (!dns_query_is_possible(&query) ||
	    !(said->reply.result == -EINVAL || (said->reply.result == 0 && query.name[0])))
		return distrust(reader);
	*ret_query = query;
	return said->reply.result;
}

int dns_reader_ask_answer(const struct dns_reader *reader, const uint8_t *data, size_t size,
			  const struct dns_query *query, reader_answered *done, void *context,
			  struct reader_question **ret_question)
{
	const struct iovec parts[] = {part(query, sizeof(*query)), part(data, size)};

	return size > READER_DNS_MAX ? -E2BIG
				     : readers_ask(reader->readers, reader->uid, READER_DNS_ANSWER,
						   parts, 2, done, context, ret_question);
}

int dns_reader_answer(const struct dns_reader *reader, const struct reader_answer *said,
		      const struct dns_query *query, struct dns_answer *ret_answer)
{
	struct dns_answer answer;
	int r = check(reader, said, sizeof(answer));

	if (r < 0)
		return r;
	memcpy(&answer, said->data, sizeof(answer));
	if (said->reply.result != 0 || !dns_answer_is_possible(&answer, query))
		return distrust(reader);
	*ret_answer = answer;
	return 0;
}
