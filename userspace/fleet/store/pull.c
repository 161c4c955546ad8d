/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches messages of a JetStream consumer with the server's own protocol. */
#include "fleet/store/pull.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* Limit for the messages of one request, because a group is in memory together. */
#define BYTES_MAX (32u << 20)
/* The server ends each reply with a status. Timeout if the status is missing. */
#define ANSWER_MS 1000

static natsStatus add_consumer(jsCtx *context, const struct pull_options *o)
{
	jsConsumerInfo *info = NULL;
	jsConsumerConfig config;
	jsErrCode code;
	natsStatus s = js_GetConsumerInfo(&info, context, o->stream, o->consumer, NULL, &code);

	if (s == NATS_NOT_FOUND) {
		(void)jsConsumerConfig_Init(&config);
		config.Durable = o->consumer;
		config.FilterSubject = o->filter;
		config.AckPolicy = js_AckExplicit;
		config.DeliverPolicy = js_DeliverAll;
		config.AckWait = o->ack_wait;
		config.MaxAckPending = o->pending_max;
		s = js_AddConsumer(&info, context, o->stream, &config, NULL, &code);
	}
	jsConsumerInfo_Destroy(info);
	return s;
}

natsStatus pull_open(natsConnection *connection, jsCtx *context, const struct pull_options *options,
		     struct pull *ret_pull)
{
	struct pull pull = {.connection = connection};
	natsInbox *inbox = NULL;
	natsStatus s = add_consumer(context, options);

	(void)snprintf(pull.subject, sizeof(pull.subject),
		       "$JS.API.CONSUMER.MSG.NEXT.%.150s.%.150s", options->stream,
		       options->consumer);
	if (s == NATS_OK)
		s = natsInbox_Create(&inbox);
	if (s == NATS_OK) {
		/* "_INBOX." and an unpredictable name. */
		(void)snprintf(pull.reply, sizeof(pull.reply), PULL_INBOX "%s", strchr(inbox, '.'));
		s = natsConnection_SubscribeSync(&pull.inbox, connection, pull.reply);
	}
	natsInbox_Destroy(inbox);
	if (s == NATS_OK)
		*ret_pull = pull;
	return s;
}

void pull_close(struct pull *pull)
{
	natsSubscription_Destroy(pull->inbox);
	*pull = (struct pull){};
}

/*
 * Requests messages. The server waits for the first one until the request expires, and ends when it
 * has no more.
 */
static natsStatus ask(const struct pull *pull, int most, int64_t wait_ms)
{
	char expires[64] = "", question[160];

	if (wait_ms > 0)
		(void)snprintf(expires, sizeof(expires), ",\"expires\":%" PRId64,
			       wait_ms * (int64_t)NSEC_PER_MSEC);
	(void)snprintf(question, sizeof(question),
		       "{\"batch\":%d,\"max_bytes\":%u,\"no_wait\":true%s}", most, BYTES_MAX,
		       expires);
	return natsConnection_PublishRequestString(pull->connection, pull->subject, pull->reply,
						   question);
}

/* Returns 0 for a message. 404 and 408: no more messages. 409: the server aborted the request. */
static int status_of(natsMsg *message)
{
	const char *status = NULL;

	if (natsMsg_GetDataLength(message) > 0 ||
	    natsMsgHeader_Get(message, "Status", &status) != NATS_OK)
		return 0;
	return atoi(status);
}

/* Takes messages that have already arrived for this request or an earlier one. */
static natsStatus take_pending(const struct pull *pull, int most, natsMsg **messages, int *count)
{
	int pending = 0;
	natsStatus s = natsSubscription_GetPending(pull->inbox, &pending, NULL);

	for (; s == NATS_OK && pending > 0 && *count < most; pending--) {
		natsMsg *message = NULL;

		s = natsSubscription_NextMsg(&message, pull->inbox, 1);
		if (s == NATS_OK && status_of(message) == 0)
			messages[(*count)++] = message;
		else
			natsMsg_Destroy(message);
	}
	return s;
}

/* Takes messages until there are `most`, or until the server sends a status. */
static natsStatus take_answers(const struct pull *pull, int most, int64_t wait_ms,
			       natsMsg **messages, int *count)
{
	while (*count < most) {
		natsMsg *message = NULL;
		natsStatus s = natsSubscription_NextMsg(&message, pull->inbox, wait_ms);
		int status;

		if (s != NATS_OK)
			return s == NATS_TIMEOUT ? NATS_OK : s;
		status = status_of(message);
		if (status == 0) {
			messages[(*count)++] = message;
			continue;
		}
		natsMsg_Destroy(message);
		return status == 404 || status == 408 ? NATS_OK : NATS_ERR;
	}
	return NATS_OK;
}

natsStatus pull_fetch(struct pull *pull, int most, int64_t wait_ms, natsMsg **messages,
		      int *ret_count)
{
	int count = 0;
	natsStatus s = take_pending(pull, most, messages, &count);

	if (s == NATS_OK && count == 0) {
		s = ask(pull, most, wait_ms);
		if (s == NATS_OK)
			s = take_answers(pull, most, wait_ms + ANSWER_MS, messages, &count);
	}
	/* Return messages before an error, which will occur again. */
	*ret_count = count;
	return count > 0 ? NATS_OK : s;
}

void pull_acknowledge(const struct pull *pull, natsMsg *message)
{
	const char *reply = natsMsg_GetReply(message);

	if (reply)
		(void)natsConnection_PublishString(pull->connection, reply, "+ACK");
}

/*
 * $JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE.SEQUENCE.TIME.PENDING. The longer form has a domain
 * and an account after $JS.ACK, and a random word at the end.
 */
bool pull_place(const char *reply, struct pull_place *ret_place)
{
	struct pull_place place;
	const char *at = reply;
	int dots = 0, before;

	if (!reply || strncmp(reply, "$JS.ACK.", 8) != 0)
		return false;
	for (const char *c = reply; *c; c++)
		dots += *c == '.';
	if (dots < 8)
		return false;
	for (before = dots == 8 ? 4 : 6; before > 0; before--) {
		at = strchr(at, '.');
		if (!at)
			return false;
		at++;
	}
	if (sscanf(at, "%" SCNu64 ".%" SCNu64 ".%*u.%" SCNu64 ".%" SCNu64, &place.delivered,
		   &place.number, &place.time, &place.pending) != 4)
		return false;
	*ret_place = place;
	return true;
}
