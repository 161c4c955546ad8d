/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each host with deferred messages a time slice. */
#include "fleet/store/later_stream.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/store/policy_stream.h"
#include "fleet/store/record_stream.h"

/* Messages of one host in one transaction. */
#define GROUP_MAX 16
/* A message begun this often but never decided is quarantined unread. */
#define TRIES_MAX 4
#define NAME_SIZE 128
/* Time slice of one host; the last message may exceed it. */
#define HOST_NSEC (25 * NSEC_PER_MSEC)

/*
 * Returns 0, with NULL for messages that the stream no longer has, or 1 if the server does not
 * respond.
 */
static int read_all(const struct later_stream *stream, const struct later_entry *entries,
		    size_t count, natsMsg **ret_messages)
{
	char policies[NAME_SIZE];

	(void)snprintf(policies, sizeof(policies), "%.100s_POLICIES", stream->stream);
	for (size_t i = 0; i < count; i++) {
		const char *name = entries[i].kind == LATER_POLICY ? policies : stream->stream;
		jsErrCode code = 0;
		natsStatus s = js_GetMsg(&ret_messages[i], stream->context, name, entries[i].number,
					 NULL, &code);

		if (s != NATS_OK)
			ret_messages[i] = NULL;
		if (s != NATS_OK && s != NATS_NOT_FOUND)
			return 1;
	}
	return 0;
}

static int set_aside(struct intake *intake, natsMsg *message, const char *host,
		     struct failure *failure)
{
	struct delivery delivery = {
		.data = natsMsg_GetData(message),
		.size = (size_t)natsMsg_GetDataLength(message),
		.now = clock_nsec(CLOCK_REALTIME),
	};

	(void)snprintf(delivery.host, sizeof(delivery.host), "%s", host);
	return intake_refuse(intake, &delivery,
			     "the store ended each time that it read this message", failure);
}

static int take(struct intake *intake, const struct later_entry *entry, natsMsg *message,
		struct failure *failure)
{
	struct failure why = {};
	int r;

	if (!message)
		return intake_lost(intake, entry, failure);
	if (entry->tries >= TRIES_MAX)
		r = set_aside(intake, message, entry->host, &why);
	else if (entry->kind == LATER_POLICY)
		r = policy_stream_take(intake, message, &why);
	else
		r = record_stream_take(intake, message, &why);
	if (r == -EAGAIN)
		return later_hold(intake_later(intake), entry, why.text, failure);
	return r < 0 ? failure_set(failure, r, "%s", why.text)
		     : later_done(intake_later(intake), entry, failure);
}

static int take_all(struct intake *intake, const struct later_entry *entries, natsMsg **messages,
		    size_t count, uint64_t until, struct failure *failure)
{
	int r = intake_begin(intake, failure);

	for (size_t i = 0; i < count && r == 0; i++) {
		bool has_time = i == 0 || clock_nsec(CLOCK_MONOTONIC) < until;

		r = has_time ? take(intake, &entries[i], messages[i], failure)
			     : later_put_back(intake_later(intake), &entries[i], failure);
	}
	return r == 0 ? intake_commit(intake, failure) : r;
}

/* Commit the attempt before reading, so that it is counted even after a crash. */
static int choose(struct later_stream *stream, struct intake *intake, struct later_entry *entries,
		  size_t *ret_count, struct failure *failure)
{
	int r = intake_begin(intake, failure);

	if (r == 0)
		r = later_next(intake_later(intake), stream->host, entries, GROUP_MAX, ret_count,
			       failure);
	if (r == 0)
		r = intake_commit(intake, failure);
	if (r == 0 && *ret_count > 0)
		memcpy(stream->host, entries[0].host, sizeof(stream->host));
	return r;
}

void later_stream_open(jsCtx *context, const char *stream, struct later_stream *ret_stream)
{
	*ret_stream = (struct later_stream){.context = context, .stream = stream};
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int later_stream_turn(struct later_stream *stream, struct intake *intake, uint64_t nsec,
		      struct failure *failure)
{
	uint64_t until = clock_nsec(CLOCK_MONOTONIC) + nsec;
	int r = later_any(intake_later(intake), failure);

	while (r > 0 && clock_nsec(CLOCK_MONOTONIC) < until) {
		struct later_entry entries[GROUP_MAX];
		natsMsg *messages[GROUP_MAX] = {};
		size_t count = 0;

		r = choose(stream, intake, entries, &count, failure);
		if (r == 0 && count > 0)
			r = read_all(stream, entries, count, messages);
		if (r == 0 && count > 0)
			r = take_all(intake, entries, messages, count,
				     earlier(until, clock_nsec(CLOCK_MONOTONIC) + HOST_NSEC),
				     failure);
		for (size_t i = 0; i < GROUP_MAX; i++)
			natsMsg_Destroy(messages[i]);
		if (r != 0)
			return r;
		r = later_any(intake_later(intake), failure);
	}
	return r < 0 ? r : 0;
}
