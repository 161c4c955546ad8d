/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives presence messages, and distinguishes a killed shipper from a cut network: only in the
 * first case the server knows that the connection is closed.
 */
#include "fleet/store/presence_stream.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/store/side_stream.h"

/*
 * If no client subscribes to a subject, the server responds at once. If one does, the request waits
 * for the full timeout; therefore at most one such request is made per call.
 */
#define ASK_MS	 150
#define ASKS_MAX 64
/*
 * The server drops an unresponsive connection after at least two minutes. Until then its response
 * distinguishes both cases.
 */
#define KNOWS_NSEC (100 * NSEC_PER_SEC)

#define NAME_SIZE 160

static uint64_t count_reconnects(natsConnection *connection)
{
	natsStatistics *statistics = NULL;
	uint64_t count = 0;

	if (natsStatistics_Create(&statistics) == NATS_OK &&
	    natsConnection_GetStats(connection, statistics) == NATS_OK)
		(void)natsStatistics_GetCounts(statistics, NULL, NULL, NULL, NULL, &count);
	natsStatistics_Destroy(statistics);
	return count;
}

natsStatus presence_stream_open(natsConnection *connection, jsCtx *context, const char *stream,
				const char *consumer, struct presence_stream *ret_stream)
{
	struct presence_stream opened = {.connection = connection};
	natsStatus s = side_stream_open(connection, context, stream, consumer, "PRESENCE",
					"cordon.presence.*", &opened.said);

	if (s != NATS_OK)
		return s;
	opened.reconnects = count_reconnects(connection);
	opened.since = clock_nsec(CLOCK_REALTIME);
	*ret_stream = opened;
	return NATS_OK;
}

void presence_stream_close(struct presence_stream *stream)
{
	pull_close(&stream->said);
	*stream = (struct presence_stream){};
}

/* Returns when the server received the message, which may be long ago. */
static uint64_t time_of(natsMsg *message, uint64_t now)
{
	struct pull_place place;

	return pull_place(natsMsg_GetReply(message), &place) && place.time < now ? place.time : now;
}

static int take_one(struct intake *intake, natsMsg *message, struct failure *failure)
{
	uint64_t now = clock_nsec(CLOCK_REALTIME);
	struct delivery delivery = {
		.data = natsMsg_GetData(message),
		.size = (size_t)natsMsg_GetDataLength(message),
		.now = now,
	};
	struct presence presence;
	struct failure why = {};
	int r = presence_read(natsMsg_GetSubject(message), delivery.data, delivery.size, &presence,
			      &why);

	if (r < 0)
		return intake_refuse(intake, &delivery, why.text, failure);
	presence.at = time_of(message, now);
	return intake_presence(intake, &presence, failure);
}

/* Returns NATS_NO_RESPONDERS if the server has no subscription of this host. */
static natsStatus ask_server(struct presence_stream *stream, const char *host)
{
	natsMsg *reply = NULL;
	char subject[NAME_SIZE];
	natsStatus s;

	(void)snprintf(subject, sizeof(subject), "cordon.here.%.100s", host);
	s = natsConnection_RequestString(&reply, stream->connection, subject, "", ASK_MS);
	natsMsg_Destroy(reply);
	return s;
}

/*
 * Checks one host with an overdue message. Returns 1 if there was none, or if the request took
 * long.
 */
static int ask_one(struct presence_stream *stream, struct intake *intake, struct failure *failure)
{
	uint64_t now = clock_nsec(CLOCK_REALTIME);
	uint64_t after = now - KNOWS_NSEC > stream->since ? now - KNOWS_NSEC : stream->since;
	char host[DELIVERY_ID_SIZE];
	int r = intake_begin(intake, failure), found;
	natsStatus s = NATS_NO_RESPONDERS;

	if (r < 0)
		return r;
	found = intake_overdue(intake, after, now, host, failure);
	if (found == 0)
		s = ask_server(stream, host);
	if (found == 0 && s == NATS_NO_RESPONDERS)
		r = intake_closed(intake, host, now, failure);
	if (found < 0 && found != -ENOENT)
		r = found;
	if (r == 0)
		r = intake_commit(intake, failure);
	return r < 0 ? r : found == -ENOENT || s != NATS_NO_RESPONDERS;
}

int presence_stream_turn(struct presence_stream *stream, struct intake *intake,
			 struct failure *failure)
{
	uint64_t reconnects = count_reconnects(stream->connection);
	int r = side_stream_take(&stream->said, intake, take_one, failure);

	if (r != 0)
		return r;
	/* After an outage of the server, other clients may not be reconnected yet. */
	if (reconnects != stream->reconnects)
		stream->since = clock_nsec(CLOCK_REALTIME);
	stream->reconnects = reconnects;
	for (unsigned int i = 0; i < ASKS_MAX && r == 0; i++)
		r = ask_one(stream, intake, failure);
	return r < 0 ? r : 0;
}
