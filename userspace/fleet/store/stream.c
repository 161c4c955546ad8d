/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches messages in groups. Invariant: a group is acknowledged only after it is on disk. */
#include "fleet/store/stream.h"

#include <nats/nats.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/ship/certificate.h"
#include "fleet/ship/clear_text.h"
#include "fleet/store/later_stream.h"
#include "fleet/store/policy_stream.h"
#include "fleet/store/presence_stream.h"
#include "fleet/store/pull.h"
#include "fleet/store/record_stream.h"

/* Messages per transaction, each of at most half a MiB. */
#define GROUP_MAX 512
#define FETCH_MS  1000
/* Minimum interval of maintenance, policies and presence messages, also during a backlog. */
#define SIDE_NSEC (500 * NSEC_PER_MSEC)
/* Wait for messages while rows are being sent to ClickHouse. */
#define BUSY_MS 20
/* Maximum of unacknowledged messages. */
#define PENDING_MAX 4096
/*
 * After more deliveries than this, the store may have crashed while reading the message: defer it,
 * so that it is read alone.
 */
#define DELIVERIES_MAX 3
/* Time for deferred messages in an iteration with and without new messages. */
#define LATER_BUSY_NSEC (20 * NSEC_PER_MSEC)
#define LATER_IDLE_NSEC (200 * NSEC_PER_MSEC)

#define SUBJECTS "cordon.log.>"
/* Retention of a stream created here: the maximum downtime of a store. */
#define STREAM_NSEC (7 * 86400ull * NSEC_PER_SEC)

struct connection {
	natsOptions *options;
	natsConnection *connection;
	jsCtx *stream;
	struct pull all;
	/* queue "first"; the consumer `all` returns its messages again, in order */
	struct pull first_lane;
	struct presence_stream presence;
	struct pull policies;
	struct later_stream later;
	uint64_t side_time; /* monotonic: last look at presence and policies; 0: never */
};

static int nats_failure(struct failure *failure, int error, const char *what,
			const struct stream_options *o, natsStatus status)
{
	const char *detail = nats_GetLastError(NULL);

	if (certificate_has_expired(o->certificate))
		return failure_set(failure, error, "%s %s: %s; the certificate in %s has expired",
				   what, o->url, natsStatus_GetText(status), o->certificate);
	return failure_set(failure, error, "%s %s: %s%s%s", what, o->url,
			   natsStatus_GetText(status), detail && detail[0] ? ": " : "",
			   detail ? detail : "");
}

static natsStatus set_options(natsOptions *options, const struct stream_options *o)
{
	natsStatus s = natsOptions_SetURL(options, o->url);

	if (s == NATS_OK)
		s = natsOptions_SetName(options, "cordon-fleet store");
	if (s == NATS_OK)
		s = natsOptions_SetMaxReconnect(options, -1);
	if (s == NATS_OK)
		s = natsOptions_SetCustomInboxPrefix(options, PULL_INBOX);
	/*
	 * Send each request immediately, because libnats's delays would add up over dependent
	 * requests.
	 */
	if (s == NATS_OK)
		s = natsOptions_SetSendAsap(options, true);
	if (s == NATS_OK && o->credentials)
		s = natsOptions_SetUserCredentialsFromFiles(options, o->credentials, NULL);
	if (s == NATS_OK && (o->ca || o->certificate || clear_text_is_encrypted(o->url)))
		s = natsOptions_SetSecure(options, true);
	if (s == NATS_OK && o->ca)
		s = natsOptions_LoadCATrustedCertificates(options, o->ca);
	if (s == NATS_OK && o->certificate)
		s = natsOptions_LoadCertificatesChain(options, o->certificate,
						      o->key ? o->key : o->certificate);
	return s;
}

static natsStatus make_stream(struct connection *c, const struct stream_options *o)
{
	const char *subjects[] = {SUBJECTS};
	jsStreamConfig config;
	jsStreamInfo *info = NULL;
	jsErrCode code;
	natsStatus s = js_GetStreamInfo(&info, c->stream, o->stream, NULL, &code);

	if (s == NATS_NOT_FOUND) {
		jsStreamConfig_Init(&config);
		config.Name = o->stream;
		config.Subjects = subjects;
		config.SubjectsLen = 1;
		config.Storage = js_FileStorage;
		config.MaxAge = (int64_t)STREAM_NSEC;
		s = js_AddStream(&info, c->stream, &config, NULL, &code);
	}
	jsStreamInfo_Destroy(info);
	return s;
}

static natsStatus subscribe(struct connection *c, const struct stream_options *o)
{
	char name[PULL_NAME_SIZE];
	/*
	 * No filter: even if one matches all subjects, the server would search the subjects of all
	 * hosts for each message.
	 */
	struct pull_options options = {.stream = o->stream,
				       .consumer = o->consumer,
				       .ack_wait = (int64_t)o->ack_wait,
				       .pending_max = PENDING_MAX};
	natsStatus s = pull_open(c->connection, c->stream, &options, &c->all);

	if (s == NATS_OK)
		s = presence_stream_open(c->connection, c->stream, o->stream, o->consumer,
					 &c->presence);
	if (s == NATS_OK)
		s = policy_stream_open(c->connection, c->stream, o->stream, o->consumer,
				       &c->policies);
	later_stream_open(c->stream, o->stream, &c->later);
	(void)snprintf(name, sizeof(name), "%.100s-first", o->consumer);
	options.consumer = name;
	options.filter = "cordon.log.*.*.first";
	return s == NATS_OK ? pull_open(c->connection, c->stream, &options, &c->first_lane) : s;
}

/*
 * Close the connection before its subscriptions, because libnats 3.4 has a race in the other order.
 */
static void disconnect(struct connection *c)
{
	natsConnection_Close(c->connection);
	pull_close(&c->policies);
	presence_stream_close(&c->presence);
	pull_close(&c->first_lane);
	pull_close(&c->all);
	jsCtx_Destroy(c->stream);
	natsConnection_Destroy(c->connection);
	natsOptions_Destroy(c->options);
	*c = (struct connection){};
}

/* Returns an errno for an error that waiting cannot fix, otherwise 0. */
static int is_final(natsStatus s)
{
	switch (s) {
	case NATS_CONNECTION_AUTH_FAILED:
	case NATS_NOT_PERMITTED:
	case NATS_SECURE_CONNECTION_REQUIRED:
	case NATS_SECURE_CONNECTION_WANTED:
	case NATS_SSL_ERROR:
		return EACCES;
	case NATS_INVALID_ARG:
	case NATS_ADDRESS_MISSING:
	case NATS_ERR:
		return EPROTO;
	default:
		return 0;
	}
}

/* Returns 0 if connected, 1 to retry (*failure has the reason), or -ERRNO for a final error. */
static int connect_once(struct connection *c, const struct stream_options *o,
			struct failure *failure)
{
	const char *what = "cannot use the options for";
	natsStatus s = natsOptions_Create(&c->options);
	int error;

	if (s == NATS_OK)
		s = set_options(c->options, o);
	if (s == NATS_OK) {
		what = "cannot connect to";
		s = natsConnection_Connect(&c->connection, c->options);
	} else {
		error = nats_failure(failure, EINVAL, what, o, s);
		disconnect(c);
		return error;
	}
	if (s == NATS_OK)
		s = natsConnection_JetStream(&c->stream, c->connection, NULL);
	if (s == NATS_OK) {
		what = "cannot use the stream at";
		s = make_stream(c, o);
	}
	if (s == NATS_OK) {
		what = "cannot read the stream at";
		s = subscribe(c, o);
	}
	if (s == NATS_OK)
		return 0;
	error = is_final(s);
	(void)nats_failure(failure, error ? error : EAGAIN, what, o, s);
	disconnect(c);
	return error ? -error : 1;
}

/*
 * Stores or defers a message. `ahead`: from the queue "first". Such a message may be skipped,
 * because the consumer of all messages returns it again.
 */
static int take_message(struct intake *intake, natsMsg *message, bool ahead,
			struct failure *failure)
{
	struct delivery delivery;
	struct pull_place place;
	struct failure why = {};
	bool has_place = pull_place(natsMsg_GetReply(message), &place);
	int r;

	if (!has_place || !record_stream_origin(message, &delivery))
		return record_stream_take(intake, message, failure);
	r = intake_is_spent(intake, delivery.host, ahead ? SHARE_FIRST : SHARE_BULK,
			    place.pending > 0, failure);
	if (r < 0)
		return r;
	if (r > 0 || place.delivered > DELIVERIES_MAX)
		return ahead ? 0
			     : intake_defer(intake, &delivery, LATER_RECORDS, place.number, false,
					    "its host takes more than its share", failure);
	r = record_stream_take(intake, message, &why);
	if (r == -EAGAIN)
		return ahead ? 0
			     : intake_defer(intake, &delivery, LATER_RECORDS, place.number, true,
					    why.text, failure);
	return r < 0 ? failure_set(failure, r, "%s", why.text) : 0;
}

static int take_group(struct intake *intake, const struct pull *from, natsMsg **messages, int count,
		      bool ahead, struct failure *failure)
{
	int r = intake_begin(intake, failure);

	for (int i = 0; i < count && r == 0; i++)
		r = take_message(intake, messages[i], ahead, failure);
	if (r == 0)
		r = intake_commit(intake, failure);
	/* A lost acknowledgement causes a repeated delivery, which is recognized. */
	for (int i = 0; i < count && r == 0; i++)
		pull_acknowledge(from, messages[i]);
	return r;
}

/* Returns 0 to continue, 1 to reconnect, or -ERRNO if the store fails. */
static int fetch(struct intake *intake, struct pull *from, bool ahead, int64_t wait_ms,
		 uint64_t *active, struct failure *failure)
{
	natsMsg *messages[GROUP_MAX];
	int count, r = 0;
	natsStatus s = pull_fetch(from, GROUP_MAX, wait_ms, messages, &count);

	if (count > 0) {
		r = take_group(intake, from, messages, count, ahead, failure);
		*active = clock_nsec(CLOCK_MONOTONIC);
	} else if (s != NATS_OK) {
		r = 1;
	}
	while (count > 0)
		natsMsg_Destroy(messages[--count]);
	return r;
}

/* Runs periodic maintenance that no stream triggers. */
static int tend(struct intake *intake, void (*report)(const char *text), struct failure *failure)
{
	int r = intake_begin(intake, failure);

	if (r == 0)
		r = intake_tend(intake, report, failure);
	return r == 0 ? intake_commit(intake, failure) : r;
}

/* Runs maintenance, and receives policies and presence messages. */
static int take_side(struct intake *intake, struct connection *c, void (*report)(const char *text),
		     struct failure *failure)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);
	int r;

	if (c->side_time > 0 && now - c->side_time < SIDE_NSEC)
		return 0;
	c->side_time = now;
	r = tend(intake, report, failure);
	if (r == 0)
		r = policy_stream_turn(&c->policies, intake, failure);
	return r == 0 ? presence_stream_turn(&c->presence, intake, failure) : r;
}

static void pause_a_second(void)
{
	(void)nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
}

/* Sends rows between two groups. *ret_wait_ms: how long the next fetch may wait. */
static int take_turn(struct intake *intake, uint64_t *active, int64_t *ret_wait_ms,
		     struct failure *failure)
{
	int r = intake_turn(intake, failure);

	*ret_wait_ms = r == FORWARD_BUSY || r == FORWARD_ARRIVED ? BUSY_MS : FETCH_MS;
	if (r == FORWARD_ARRIVED)
		*active = clock_nsec(CLOCK_MONOTONIC);
	if (r < 0)
		return r;
	r = later_any(intake_later(intake), failure);
	if (r > 0) {
		*ret_wait_ms = 0;
		*active = clock_nsec(CLOCK_MONOTONIC);
	}
	return r < 0 ? r : 0;
}

/* Runs one iteration: receives all kinds of messages, including deferred ones. */
static int take_all(struct intake *intake, struct connection *c, int64_t wait_ms, uint64_t *active,
		    void (*report)(const char *text), struct failure *failure)
{
	uint64_t before = *active;
	int r;

	/* Check the queue "first" between two groups, without waiting for it. */
	r = fetch(intake, &c->first_lane, true, 0, active, failure);
	if (r == 0)
		r = fetch(intake, &c->all, false, wait_ms, active, failure);
	if (r == 0)
		r = later_stream_turn(&c->later, intake,
				      *active != before ? LATER_BUSY_NSEC : LATER_IDLE_NSEC,
				      failure);
	return r == 0 ? take_side(intake, c, report, failure) : r;
}

static int run(struct intake *intake, struct connection *c, const struct stream_options *options,
	       const volatile sig_atomic_t *stop, void (*report)(const char *text),
	       struct failure *failure)
{
	uint64_t active = clock_nsec(CLOCK_MONOTONIC);
	int64_t wait_ms = FETCH_MS;
	bool told = false;
	int r = 0;

	while (r >= 0 && !*stop &&
	       (options->idle_end == 0 ||
		clock_nsec(CLOCK_MONOTONIC) - active < options->idle_end)) {
		struct failure why = {};

		r = take_turn(intake, &active, &wait_ms, failure);
		if (r < 0)
			break;
		if (c->first_lane.inbox) {
			r = take_all(intake, c, wait_ms, &active, report, failure);
			if (r > 0) {
				disconnect(c);
				pause_a_second();
			}
			continue;
		}
		r = connect_once(c, options, &why);
		if (r < 0)
			return failure_set(failure, r, "%s", why.text);
		if (r > 0 && !told)
			report(why.text);
		told = r > 0;
		if (r > 0)
			pause_a_second();
	}
	return r < 0 ? r : 0;
}

int stream_run(struct intake *intake, const struct stream_options *options,
	       const volatile sig_atomic_t *stop, void (*report)(const char *text),
	       struct failure *failure)
{
	struct connection connection = {};
	int r = run(intake, &connection, options, stop, report, failure);

	/* Send the remaining acknowledgements. */
	if (connection.connection)
		(void)natsConnection_FlushTimeout(connection.connection, FETCH_MS);
	disconnect(&connection);
	nats_Close();
	return r;
}
