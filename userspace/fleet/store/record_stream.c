/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the records in one message of the stream. */
#include "fleet/store/record_stream.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"

static const char *header(natsMsg *message, const char *name)
{
	const char *value = NULL;

	return natsMsgHeader_Get(message, name, &value) == NATS_OK ? value : NULL;
}

bool record_stream_origin(natsMsg *message, struct delivery *ret_delivery)
{
	struct delivery delivery = {.now = clock_nsec(CLOCK_REALTIME)};

	if (delivery_read_subject(natsMsg_GetSubject(message), &delivery, NULL) < 0)
		return false;
	(void)delivery_read_headers(&delivery, NULL, NULL, header(message, "Cordon-Seq"), NULL);
	*ret_delivery = delivery;
	return true;
}

/* Returns 0, or -EBADMSG if the message violates the protocol. */
static int read_message(natsMsg *message, struct delivery *delivery, struct buffer *text,
			struct failure *failure)
{
	const char *encoding = header(message, "Content-Encoding");
	int r;

	delivery->data = natsMsg_GetData(message);
	delivery->size = (size_t)natsMsg_GetDataLength(message);
	if (delivery_read_subject(natsMsg_GetSubject(message), delivery, failure) < 0)
		return -EBADMSG;
	r = delivery_read_headers(delivery, header(message, "Cordon-Host"),
				  header(message, "Cordon-Log"), header(message, "Cordon-Seq"),
				  failure);
	if (r < 0 || !encoding)
		return r;
	if (strcasecmp(encoding, "gzip") != 0)
		return failure_set(failure, EBADMSG, "the encoding %.32s is not known", encoding);
	r = delivery_inflate(delivery->data, delivery->size, text);
	if (r == -ENOMEM)
		return failure_set(failure, ENOMEM, "out of memory");
	if (r < 0)
		return failure_set(failure, EBADMSG,
				   r == -EFBIG ? "it holds more than 4 MiB"
					       : "its gzip is damaged");
	delivery->data = text->data;
	delivery->size = text->size;
	return 0;
}

/* Restores the chain values if the message was sent without them. */
static int read_chain(natsMsg *message, struct delivery *delivery, struct buffer *text,
		      struct failure *failure)
{
	const char *chain = header(message, "Cordon-Chain");
	struct buffer lines = {};
	int r;

	if (!chain)
		return 0;
	r = delivery_chain(chain, delivery->data, delivery->size, &lines, failure);
	if (r < 0)
		return r;
	buffer_free(text);
	*text = lines;
	delivery->data = text->data;
	delivery->size = text->size;
	return 0;
}

static int take(struct intake *intake, natsMsg *message, struct delivery *delivery,
		struct failure *failure)
{
	struct buffer text = {};
	struct failure why = {};
	enum intake_result result;
	int r = read_message(message, delivery, &text, &why);

	if (r == 0)
		r = read_chain(message, delivery, &text, &why);
	if (r == -EBADMSG)
		r = intake_refuse(intake, delivery, why.text, failure);
	else if (r == 0)
		r = intake_take(intake, delivery, &result, failure);
	else
		(void)failure_set(failure, r, "%s", why.text);
	buffer_free(&text);
	return r;
}

int record_stream_take(struct intake *intake, natsMsg *message, struct failure *failure)
{
	uint64_t begin = clock_nsec(CLOCK_MONOTONIC);
	struct delivery delivery = {.now = clock_nsec(CLOCK_REALTIME)};
	int r = take(intake, message, &delivery, failure);

	if (delivery.host[0])
		intake_charge(intake, delivery.host, delivery.first_lane ? SHARE_FIRST : SHARE_BULK,
			      clock_nsec(CLOCK_MONOTONIC) - begin);
	return r;
}
