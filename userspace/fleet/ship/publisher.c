/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the publisher with libnats and JetStream. */
#include "fleet/ship/publisher.h"

#include <errno.h>
#include <nats/nats.h>
#include <stdlib.h>

#include "audit/storage/unchained.h"
#include "fleet/ship/certificate.h"
#include "fleet/ship/clear_text.h"

#define ACK_MSEC       5000
#define CONNECT_MSEC   5000
#define RECONNECT_MSEC 500
#define FLUSH_MSEC     1000
/* In shorter batches the header with two chain values costs more than it saves. */
#define UNCHAINED_RECORDS 4u

struct publisher {
	const struct publisher_options *options;
	natsOptions *nats_options;
	natsConnection *connection;
	jsCtx *stream;
	natsSubscription *here;
	struct buffer compressed, unchained;
	char chain[UNCHAINED_TEXT_SIZE]; /* of `unchained`; empty: lines are sent unchanged */
	uint64_t bytes;
};

static void free_message(natsMsg **message)
{
	natsMsg_Destroy(*message);
}

void publisher_close(struct publisher *publisher)
{
	natsSubscription_Destroy(publisher->here);
	jsCtx_Destroy(publisher->stream);
	natsConnection_Destroy(publisher->connection);
	natsOptions_Destroy(publisher->nats_options);
	buffer_free(&publisher->compressed);
	buffer_free(&publisher->unchained);
	free(publisher);
}

static natsStatus set_options(natsOptions *to, const struct publisher_options *from)
{
	natsStatus s = natsOptions_SetURL(to, from->url);

	if (s == NATS_OK)
		s = natsOptions_SetName(to, "cordon-ship");
	if (s == NATS_OK)
		s = natsOptions_SetTimeout(to, CONNECT_MSEC);
	/* Reconnect without a limit, with jitter so that hosts do not reconnect simultaneously. */
	if (s == NATS_OK)
		s = natsOptions_SetMaxReconnect(to, -1);
	if (s == NATS_OK)
		s = natsOptions_SetReconnectWait(to, RECONNECT_MSEC);
	if (s == NATS_OK)
		s = natsOptions_SetReconnectJitter(to, RECONNECT_MSEC, RECONNECT_MSEC);
	if (s == NATS_OK && from->inbox && from->inbox[0])
		s = natsOptions_SetCustomInboxPrefix(to, from->inbox);
	if (s == NATS_OK && from->credentials)
		s = natsOptions_SetUserCredentialsFromFiles(to, from->credentials, NULL);
	if (s == NATS_OK && (from->ca || from->certificate || clear_text_is_encrypted(from->url)))
		s = natsOptions_SetSecure(to, true);
	if (s == NATS_OK && from->ca)
		s = natsOptions_LoadCATrustedCertificates(to, from->ca);
	if (s == NATS_OK && from->certificate)
		s = natsOptions_LoadCertificatesChain(to, from->certificate, from->key);
	return s;
}

/*
 * libnats's error text has details that its status lacks; an expired certificate is checked here.
 */
static int describe_connection(const struct publisher_options *options, natsStatus s,
			       struct failure *failure)
{
	const char *detail = nats_GetLastError(NULL);

	if (certificate_has_expired(options->certificate))
		return failure_set(failure, ECONNREFUSED,
				   "cannot reach %s: %s; the certificate in %s has expired",
				   options->url, natsStatus_GetText(s), options->certificate);
	return failure_set(failure, ECONNREFUSED, "cannot reach %s: %s%s%.200s", options->url,
			   natsStatus_GetText(s), detail && detail[0] ? ": " : "",
			   detail ? detail : "");
}

int publisher_open(const struct publisher_options *options, struct publisher **ret_publisher,
		   struct failure *failure)
{
	_cleanup_(publisher_closep) struct publisher *publisher = calloc(1, sizeof(*publisher));
	natsStatus s;

	if (!publisher)
		return failure_set(failure, ENOMEM, "%m");
	publisher->options = options;
	s = natsOptions_Create(&publisher->nats_options);
	if (s == NATS_OK)
		s = set_options(publisher->nats_options, options);
	if (s != NATS_OK)
		return failure_set(failure, EINVAL, "cannot use these options for NATS: %s",
				   nats_GetLastError(NULL) ? nats_GetLastError(NULL)
							   : natsStatus_GetText(s));
	s = natsConnection_Connect(&publisher->connection, publisher->nats_options);
	if (s == NATS_OK)
		s = natsConnection_JetStream(&publisher->stream, publisher->connection, NULL);
	if (s != NATS_OK)
		return describe_connection(options, s, failure);
	*ret_publisher = TAKE_PTR(publisher);
	return 0;
}

static natsStatus set_headers(const struct publisher *publisher, natsMsg *message,
			      const struct batch *batch)
{
	bool compressed = !publisher->options->plain;
	char range[BATCH_RANGE_SIZE];
	natsStatus s;

	batch_range(batch, range);
	s = natsMsgHeader_Set(message, "Cordon-Host", batch->host);
	if (s == NATS_OK)
		s = natsMsgHeader_Set(message, "Cordon-Log", batch->log);
	if (s == NATS_OK)
		s = natsMsgHeader_Set(message, "Cordon-Seq", range);
	if (s == NATS_OK && compressed)
		s = natsMsgHeader_Set(message, "Content-Encoding", "gzip");
	if (s == NATS_OK && compressed && publisher->chain[0])
		s = natsMsgHeader_Set(message, "Cordon-Chain", publisher->chain);
	return s;
}

/* Returns the lines to compress: without chain values if the store can recompute them. */
static const struct buffer *without_chain(struct publisher *publisher, const struct batch *batch)
{
	unsigned char last[SHA256_SIZE];

	publisher->chain[0] = '\0';
	if (!batch->follows || batch->records < UNCHAINED_RECORDS ||
	    unchained_strip(&batch->lines, batch->before, &publisher->unchained, last) < 0)
		return &batch->lines;
	unchained_format(batch->before, last, publisher->chain);
	return &publisher->unchained;
}

static int describe(natsStatus s, jsErrCode code, const char *subject, struct failure *failure)
{
	if (s == NATS_NO_RESPONDERS)
		return failure_set(failure, EAGAIN,
				   "no stream takes %s: the fleet's store makes " PUBLISHER_STREAM,
				   subject);
	if (s == NATS_NO_MEMORY)
		return failure_set(failure, ENOMEM, "%m");
	return failure_set(failure, EAGAIN, "the stream did not acknowledge: %s (%d)",
			   natsStatus_GetText(s), (int)code);
}

int publisher_send(struct publisher *publisher, const struct batch *batch, const char *id,
		   bool *ret_duplicate, struct failure *failure)
{
	char subject[BATCH_SUBJECT_SIZE];
	jsPubOptions options = {.ExpectStream = PUBLISHER_STREAM, .MaxWait = ACK_MSEC, .MsgId = id};
	_cleanup_(free_message) natsMsg *message = NULL;
	const struct buffer *payload = &batch->lines;
	jsErrCode code = 0;
	jsPubAck *ack = NULL;
	natsStatus s;
	int r;

	if (!publisher->options->plain) {
		r = batch_compress(without_chain(publisher, batch), &publisher->compressed);
		if (r < 0)
			return failure_set(failure, r, "cannot compress: %m");
		payload = &publisher->compressed;
	}
	if ((int64_t)payload->size > natsConnection_GetMaxPayload(publisher->connection))
		return failure_set(failure, EMSGSIZE,
				   "a record is larger than the %lld bytes that the server takes; "
				   "raise its max_payload",
				   (long long)natsConnection_GetMaxPayload(publisher->connection));
	batch_subject(batch, subject);
	s = natsMsg_Create(&message, subject, NULL, payload->data, (int)payload->size);
	if (s == NATS_OK)
		s = set_headers(publisher, message, batch);
	if (s == NATS_OK)
		s = js_PublishMsg(&ack, publisher->stream, message, &options, &code);
	*ret_duplicate = s == NATS_OK && ack->Duplicate;
	jsPubAck_Destroy(ack);
	if (s != NATS_OK)
		return describe(s, code, subject, failure);
	publisher->bytes += payload->size;
	return 0;
}

/* The shipper ignores incoming messages: only its subscription matters. */
static void drop(natsConnection *connection, natsSubscription *subscription, natsMsg *message,
		 void *closure)
{
	(void)connection;
	(void)subscription;
	(void)closure;
	natsMsg_Destroy(message);
}

int publisher_announce(struct publisher *publisher, const char *subject, const char *here,
		       const char *text)
{
	natsStatus s = NATS_OK;

	if (!publisher->here)
		s = natsConnection_Subscribe(&publisher->here, publisher->connection, here, drop,
					     NULL);
	if (s == NATS_OK)
		s = natsConnection_PublishString(publisher->connection, subject, text);
	return s == NATS_OK ? 0 : -EAGAIN;
}

int publisher_send_policy(struct publisher *publisher, const char *subject, const char *data,
			  size_t size)
{
	jsPubOptions options = {.ExpectNoMessage = true, .MaxWait = ACK_MSEC};
	jsErrCode code = 0;
	jsPubAck *ack = NULL;
	natsStatus s;

	if ((int64_t)size > natsConnection_GetMaxPayload(publisher->connection))
		return -EMSGSIZE;
	s = js_Publish(&ack, publisher->stream, subject, data, (int)size, &options, &code);
	jsPubAck_Destroy(ack);
	return s == NATS_OK || code == JSStreamWrongLastSequenceErr ? 0 : -EAGAIN;
}

void publisher_flush(struct publisher *publisher)
{
	(void)natsConnection_FlushTimeout(publisher->connection, FLUSH_MSEC);
}

uint64_t publisher_bytes(const struct publisher *publisher)
{
	return publisher->bytes;
}
