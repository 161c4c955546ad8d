/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/dns/dns_reader.h"

#include <errno.h>
#include <string.h>

static struct iovec part(const void *data, size_t size)
{
	return (struct iovec){(void *)(uintptr_t)data, size};
}

/* It has said what no reader says. */
static int distrust(const struct dns_reader *reader)
{
	readers_distrust(reader->readers, reader->uid);
	return -EBADMSG;
}

/* 0: `said` has so many bytes; or what its reader says of the message. */
static int ask(const struct dns_reader *reader, enum reader_kind kind, const struct iovec *parts,
	       int count, size_t expected, struct reader_reply *ret_reply, const char **ret_said)
{
	int r = readers_ask(reader->readers, reader->uid, kind, parts, count, ret_reply, ret_said);

	if (r < 0)
		return -EBADMSG;
	if (ret_reply->size == expected)
		return 0;
	if (ret_reply->size == 0 && (ret_reply->result == -EBADMSG || ret_reply->result == -ELOOP))
		return ret_reply->result;
	return distrust(reader);
}

int dns_reader_query(const struct dns_reader *reader, const uint8_t *data, size_t size,
		     struct dns_query *ret_query)
{
	const struct iovec packet = part(data, size);
	struct reader_reply reply;
	struct dns_query query;
	const char *said;
	int r = size > READER_DNS_MAX
			? -EBADMSG
			: ask(reader, READER_DNS_QUERY, &packet, 1, sizeof(query), &reply, &said);

	if (r < 0)
		return -EBADMSG;
	memcpy(&query, said, sizeof(query));
	if (!dns_query_is_possible(&query) ||
	    !(reply.result == -EINVAL || (reply.result == 0 && query.name[0])))
		return distrust(reader);
	*ret_query = query;
	return reply.result;
}

int dns_reader_answer(const struct dns_reader *reader, const uint8_t *data, size_t size,
		      const struct dns_query *query, struct dns_answer *ret_answer)
{
	const struct iovec parts[] = {part(query, sizeof(*query)), part(data, size)};
	struct reader_reply reply;
	struct dns_answer answer;
	const char *said;
	int r = size > READER_DNS_MAX
			? -EBADMSG
			: ask(reader, READER_DNS_ANSWER, parts, 2, sizeof(answer), &reply, &said);

	if (r < 0)
		return r;
	memcpy(&answer, said, sizeof(answer));
	if (reply.result != 0 || !dns_answer_is_possible(&answer, query))
		return distrust(reader);
	*ret_answer = answer;
	return 0;
}
