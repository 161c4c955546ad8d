/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-ship: sends a host's audit log to the fleet's store, or to a collector. The log itself is
 * the only queue: an unacknowledged record is read again from it.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "fleet/ship/feed.h"
#include "fleet/ship/otlp.h"
#include "fleet/ship/policies.h"
#include "fleet/ship/presence.h"
#include "fleet/ship/publisher.h"
#include "fleet/ship/ship_options.h"
#include "fleet/ship/ship_sandbox.h"
#include "fleet/ship/state.h"

#define EXIT_REWRITTEN 3

/* Interval of the search for new policies. */
#define POLICIES_NSEC	    (5 * NSEC_PER_SEC)
#define POLICY_SUBJECT_SIZE 192u

/* Interval of polling the log, varied by a quarter so that hosts do not poll simultaneously. */
#define LOOK_MSEC 500u
/* Delay before a retry: doubled after each failure, up to the maximum. */
#define RETRY_MIN_MSEC 200u
#define RETRY_MAX_MSEC 10000u
/* Delay before the next presence message if the destination did not accept the last one. */
#define WORD_NSEC (5 * NSEC_PER_SEC)
/*
 * Interval of saving the state durably: records of this time are sent again after a power failure.
 */
#define SAVE_NSEC (5 * NSEC_PER_SEC)

#define INBOX_SIZE (sizeof("_INBOX.") + IDENTITY_HOST_SIZE)

struct ship {
	struct ship_options options;
	char state_file[PATH_MAX];
	struct ship_state state;
	struct feed *feed;
	struct publisher *publisher; /* publisher or otlp is set, not both */
	struct otlp *otlp;
	struct batch bulk, first;
	char inbox[INBOX_SIZE];	    /* reply subjects of this host */
	char nonce[UUID_TEXT_SIZE]; /* of this process */
	bool taking_over;	    /* the previous process may have sent this batch */
	struct audit_cursor end;    /* position after the lines in `bulk` */
	bool backlog;		    /* the log has lines after `bulk` */
	uint64_t next_time;	    /* monotonic: the rate limit permits the next batch */
	uint64_t saved_time;	    /* monotonic: last durable save of the state */
	uint64_t nameless;	    /* skipped lines without a host, as last reported */
	struct presence present;    /* the last message that was sent */
	struct policies_shipped policies;
	char policies_log[UUID_TEXT_SIZE]; /* the log that `policies` belongs to */
	uint64_t policies_time;		   /* monotonic: last search; 0: never */
	uint64_t present_time;		   /* monotonic: last presence message; 0: never */
	uint64_t unheard_time; /* monotonic: last presence message that failed; 0: none */
	char told[512];	       /* the last error, so that it is printed once */
	unsigned int seed;
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

_printf_(1, 2) static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("cordon-ship: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

static void say_once(struct ship *ship, const char *text)
{
	if (strcmp(ship->told, text) == 0)
		return;
	snprintf(ship->told, sizeof(ship->told), "%s", text);
	say("%s", text);
}

/*
 * --- presence ----------------------------------------------------------------------------------
 */

static int announce(const struct ship *ship, const struct presence *present)
{
	char subject[PRESENCE_SUBJECT_SIZE], here[PRESENCE_SUBJECT_SIZE], text[PRESENCE_TEXT_SIZE];

	if (ship->otlp)
		return otlp_announce(ship->otlp, present);
	presence_subject(present, subject);
	presence_here(present, here);
	presence_text(present, text);
	return publisher_announce(ship->publisher, subject, here, text);
}

/* Sends a presence message if the state changed, and at regular intervals. */
static void be_present(struct ship *ship, enum presence_state state)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);
	struct presence present = {.state = state, .every = ship->options.presence};

	/* With --once the process exits soon, so that its absence is not an error. */
	if ((!ship->publisher && !ship->otlp) || ship->options.once || ship->options.presence == 0)
		return;
	present.daemon = presence_look(ship->options.log);
	if (ship->present_time > 0 &&
	    now - ship->present_time < ship->options.presence * NSEC_PER_SEC &&
	    present.state == ship->present.state && present.daemon == ship->present.daemon)
		return;
	if (ship->unheard_time > 0 && now - ship->unheard_time < WORD_NSEC)
		return;
	if (!feed_identity(ship->options.log, present.host, present.log))
		return;
	present.acknowledged = ship->state.acknowledged.sequence;
	present.read = ship->end.sequence;
	if (announce(ship, &present) < 0) {
		ship->unheard_time = now;
		return;
	}
	ship->unheard_time = 0;
	ship->present = present;
	ship->present_time = now;
}

/*
 * --- policies ----------------------------------------------------------------------------------
 */

/* Returns 1 if a policy was shipped, or can never be because it is too large. */
static int ship_policy(struct ship *ship, const struct presence *whose)
{
	_cleanup_(freep) char *data = NULL;
	char digest[SHA256_TEXT_SIZE], subject[POLICY_SUBJECT_SIZE];
	size_t size;
	int r = policies_next(ship->options.log, &ship->policies, digest, &data, &size);

	if (r < 0)
		return r;
	snprintf(subject, sizeof(subject), "cordon.policy.%s.%s.%s", whose->host, whose->log,
		 digest);
	r = publisher_send_policy(ship->publisher, subject, data, size);
	if (r == -EMSGSIZE)
		say("the policy %.16s... is larger than the server takes: raise its max_payload, or "
		    "import it at the store",
		    digest);
	else if (r < 0)
		return r;
	r = policies_add(&ship->policies, digest);
	return r < 0 ? r : 1;
}

/* Ships new policies. After an error the next call tries again. */
static void ship_policies(struct ship *ship)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);
	struct presence whose;

	if (!ship->publisher ||
	    (ship->policies_time > 0 && now - ship->policies_time < POLICIES_NSEC))
		return;
	ship->policies_time = now;
	if (!feed_identity(ship->options.log, whose.host, whose.log))
		return;
	/* The log was replaced: none of its policies are shipped yet. */
	if (strcmp(whose.log, ship->policies_log) != 0) {
		policies_release(&ship->policies);
		memcpy(ship->policies_log, whose.log, sizeof(whose.log));
	}
	while (!stopped && ship_policy(ship, &whose) == 1)
		;
}

static void pause_msec(struct ship *ship, uint64_t msec)
{
	uint64_t jitter = msec / 2 > 0 ? (uint64_t)rand_r(&ship->seed) % (msec / 2) : 0;
	uint64_t nsec = (msec - msec / 4 + jitter) * NSEC_PER_MSEC;
	const struct timespec time = {.tv_sec = (time_t)(nsec / NSEC_PER_SEC),
				      .tv_nsec = (long)(nsec % NSEC_PER_SEC)};

	be_present(ship, PRESENCE_SHIPPING);
	(void)nanosleep(&time, NULL);
}

/* The jitter must not shorten the delay that the destination requested. */
static void pause_at_least(struct ship *ship, uint64_t msec, uint64_t least)
{
	uint64_t until = clock_nsec(CLOCK_MONOTONIC) + least * NSEC_PER_MSEC;

	pause_msec(ship, msec);
	while (!stopped && clock_nsec(CLOCK_MONOTONIC) < until)
		pause_msec(ship, LOOK_MSEC);
}

/*
 * --- sending -----------------------------------------------------------------------------------
 */

static int save_state(struct ship *ship, bool finished)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);
	bool lasting = finished || now - ship->saved_time >= SAVE_NSEC;
	int r = ship_state_save(ship->state_file, &ship->state, lasting);

	if (lasting)
		ship->saved_time = now;

	if (r < 0)
		say("cannot note in %s how far it is: %s", ship->state_file, strerror(-r));
	return r;
}

/*
 * Publishes a batch. `sent`: it may have been sent before. Returns -EEXIST if it was never sent but
 * the stream has a message with its ID. The batch is then not stored, and later messages get IDs
 * under a new secret.
 */
static int publish(struct ship *ship, const struct batch *batch, bool sent, struct failure *failure)
{
	char id[BATCH_ID_SIZE];
	bool duplicate;
	int r = batch_id(batch, ship->state.secret, batch->lane == BATCH_FIRST ? ship->nonce : NULL,
			 id);

	if (r < 0)
		return failure_set(failure, r, "cannot compute the id of a message: %m");
	r = publisher_send(ship->publisher, batch, id, &duplicate, failure);
	if (r < 0 || !duplicate || sent)
		return r;
	r = ship_state_new_secret(&ship->state);
	if (r == 0)
		r = save_state(ship, true);
	if (r < 0)
		return failure_set(failure, r, "cannot make a new secret: %m");
	return failure_set(
		failure, EEXIST,
		"ALARM: the stream has a message with the id of the records %llu to %llu, "
		"which were not sent before. Another client of the server has the secret in %s. "
		"The records are sent again under a new secret.",
		(unsigned long long)batch->first, (unsigned long long)batch->last,
		ship->state_file);
}

/* Sends a batch once. `sent`: as for publish(). *ret_wait: minimum delay before a retry, in ns. */
static int try_to_send(struct ship *ship, const struct batch *batch, bool sent, uint64_t *ret_wait,
		       struct failure *failure)
{
	uint64_t refused = 0;
	int r;

	*ret_wait = 0;
	if (!ship->otlp)
		return publish(ship, batch, sent, failure);
	r = otlp_send(ship->otlp, batch, &refused, ret_wait, failure);
	if (r == 0 && refused > 0)
		say("%s", failure->text);
	return r;
}

/*
 * Sends a batch until the stream, or the collector, confirms it. `sent`: as for publish(). Returns
 * -ECANCELED after a stop signal.
 */
static int send_batch(struct ship *ship, const struct batch *batch, bool sent)
{
	uint64_t wait = RETRY_MIN_MSEC;

	while (!stopped) {
		struct failure failure = {};
		uint64_t asked;
		int r = try_to_send(ship, batch, sent, &asked, &failure);

		if (r == 0) {
			if (ship->told[0])
				say("%s again", ship->otlp ? "the collector takes records"
							   : "the stream acknowledges");
			ship->told[0] = '\0';
			return 0;
		}
		say_once(ship, failure.text);
		/* After -EEXIST the ID is new, so that this batch was never sent under it. */
		sent = r == -EAGAIN;
		if (r != -EAGAIN && r != -EMSGSIZE && r != -EEXIST)
			return r;
		pause_at_least(ship, wait, asked / NSEC_PER_MSEC);
		wait = wait * 2 < RETRY_MAX_MSEC ? wait * 2 : RETRY_MAX_MSEC;
	}
	return -ECANCELED;
}

/* Sends urgent lines before a backlog. */
static int send_first(struct ship *ship)
{
	int more = 1;

	while (more > 0 && !stopped) {
		uint64_t acknowledged = ship->state.acknowledged.sequence;
		uint64_t after = ship->state.first > acknowledged ? ship->state.first
								  : acknowledged;
		struct failure failure = {};
		uint64_t end = after;
		int r = 0;

		batch_clear(&ship->first);
		more = feed_fill_first(ship->feed, &ship->first, after, &end, &failure);
		if (more < 0) {
			say("%s", failure.text);
			return more;
		}
		if (ship->first.records > 0)
			r = send_batch(ship, &ship->first, false);
		if (r < 0)
			return r;
		ship->state.first = end;
	}
	return 0;
}

static void note_rate(struct ship *ship)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC), rate = ship->options.records_second;

	if (rate == 0)
		return;
	if (ship->next_time < now)
		ship->next_time = now;
	ship->next_time += ship->bulk.records * NSEC_PER_SEC / rate;
}

/* Waits for the rate limit. Urgent lines are sent meanwhile. */
static int await_rate(struct ship *ship)
{
	while (!stopped) {
		uint64_t now = clock_nsec(CLOCK_MONOTONIC);
		uint64_t wait = ship->next_time > now ? (ship->next_time - now) / NSEC_PER_MSEC : 0;
		int r;

		if (wait == 0)
			return 0;
		pause_msec(ship, wait < LOOK_MSEC ? wait : LOOK_MSEC);
		r = send_first(ship);
		if (r < 0)
			return r;
	}
	return -ECANCELED;
}

/*
 * --- reading the log ---------------------------------------------------------------------------
 */

static void tell_nameless(struct ship *ship)
{
	uint64_t nameless = feed_nameless(ship->feed);

	if (nameless > 0 && ship->nameless == 0)
		say("the log begins with records that name no host; "
		    "these are not sent");
	ship->nameless = nameless;
}

/* Fills `bulk` with the next lines in order. `last`: number of its last line, or 0 for any. */
static int fill_bulk(struct ship *ship, uint64_t last)
{
	int r;

	batch_clear(&ship->bulk);
	do {
		struct failure failure = {};

		r = feed_fill(ship->feed, &ship->bulk, last, &ship->end, &failure);
		if (r < 0)
			say("%s", failure.text);
	} while (r == -EBADMSG);
	tell_nameless(ship);
	ship->backlog = r == 1;
	return r < 0 ? r : 0;
}

/* Called when the stream has all lines of `bulk`, or when `bulk` has none after skipped lines. */
static void acknowledge(struct ship *ship)
{
	ship->state.acknowledged = ship->end;
	ship->state.sending = 0;
}

/* Set the chain value before the batch if it follows directly after the acknowledged record. */
static void note_before(struct batch *bulk, const struct audit_cursor *acknowledged)
{
	bool begins = bulk->first == 1;

	bulk->follows = begins ||
			(acknowledged->known && bulk->first == acknowledged->sequence + 1 &&
			 strcmp(bulk->log, acknowledged->log) == 0);
	if (begins)
		memset(bulk->before, 0, sizeof(bulk->before));
	else
		memcpy(bulk->before, acknowledged->chain, sizeof(bulk->before));
}

/*
 * Sends one batch in order. Its last number is saved before it is sent. After a crash the next
 * process therefore sends exactly the same batch, and the stream detects the duplicate by its ID.
 * Urgent lines are sent first, even without a backlog on this host, because the store may have a
 * backlog.
 */
static int ship_bulk(struct ship *ship)
{
	int r;

	if (ship->bulk.records == 0)
		return 0;
	note_before(&ship->bulk, &ship->state.acknowledged);
	ship->state.sending = ship->bulk.last;
	r = save_state(ship, false);
	if (r == 0 && (ship->backlog || ship->bulk.urgent))
		r = send_first(ship);
	if (r == 0)
		r = await_rate(ship);
	if (r == 0)
		r = send_batch(ship, &ship->bulk, ship->taking_over);
	if (r == 0) {
		ship->taking_over = false;
		note_rate(ship);
		acknowledge(ship);
		be_present(ship, PRESENCE_SHIPPING);
	}
	return r;
}

static int ship_log(struct ship *ship)
{
	uint64_t last = ship->state.sending, noted = ship->state.acknowledged.sequence;
	int r;

	ship->taking_over = last > 0;
	for (;;) {
		ship->end = ship->state.acknowledged;
		r = fill_bulk(ship, last);
		if (r == 0)
			r = ship_bulk(ship);
		if (r < 0 || stopped)
			return r;
		last = 0;
		if (ship->backlog)
			continue;
		acknowledge(ship);
		if (ship->state.acknowledged.sequence != noted)
			r = save_state(ship, ship->options.once);
		noted = ship->state.acknowledged.sequence;
		ship_policies(ship);
		if (r < 0 || ship->options.once)
			return r;
		pause_msec(ship, LOOK_MSEC);
	}
}

/*
 * --- start and exit ----------------------------------------------------------------------------
 */

static int load_state(struct ship *ship)
{
	int r;

	if (snprintf(ship->state_file, sizeof(ship->state_file), "%s/state.json",
		     ship->options.state) >= (int)sizeof(ship->state_file))
		return -ENAMETOOLONG;
	r = ship_state_load(ship->state_file, &ship->state);
	/* Create the first file, because ship_state_load() ignores the second one without it. */
	if (r == -ENOENT)
		return save_state(ship, true);
	if (r < 0)
		say("cannot read the position in %s: %s; remove it to send all of the log again: "
		    "the store ignores duplicates",
		    ship->state_file,
		    r == -EBADMSG ? "it is no state of this program" : strerror(-r));
	return r;
}

static int enter_sandbox(const struct ship *ship)
{
	const struct publisher_options *publisher = &ship->options.publisher;
	const char *const given[] = {publisher->credentials, publisher->ca, publisher->certificate,
				     publisher->key};
	const char *files[ARRAY_SIZE(given) + 1];
	const struct ship_sandbox sandbox = {
		.log = ship->options.log,
		.state = ship->options.state,
		.files = files,
		.port = ship->options.port,
	};
	struct failure failure = {};
	size_t count = 0;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (given[i])
			files[count++] = given[i];
	files[count] = NULL;
	if (access(sandbox.log, R_OK | X_OK) < 0 || access(sandbox.state, W_OK | X_OK) < 0) {
		say("needs to read %s and to write %s: %s", sandbox.log, sandbox.state,
		    strerror(errno));
		return -EACCES;
	}
	r = ship_sandbox_enter(&sandbox, &failure);
	if (r < 0)
		say("%s", failure.text);
	return r;
}

/* Choose a reply prefix to which the server's permissions let only this host subscribe. */
static void choose_inbox(struct ship *ship)
{
	char host[IDENTITY_HOST_SIZE], log[UUID_TEXT_SIZE];

	if (feed_identity(ship->options.log, host, log))
		(void)snprintf(ship->inbox, sizeof(ship->inbox), "_INBOX.%s", host);
	ship->options.publisher.inbox = ship->inbox;
}

static int connect_to_server(struct ship *ship)
{
	uint64_t wait = RETRY_MIN_MSEC;

	choose_inbox(ship);
	while (!stopped) {
		struct failure failure = {};
		int r = ship->options.otlp
				? otlp_open(&ship->options.publisher, &ship->otlp, &failure)
				: publisher_open(&ship->options.publisher, &ship->publisher,
						 &failure);

		if (r == 0)
			return 0;
		say_once(ship, failure.text);
		if (r != -ECONNREFUSED)
			return r;
		pause_msec(ship, wait);
		wait = wait * 2 < RETRY_MAX_MSEC ? wait * 2 : RETRY_MAX_MSEC;
	}
	return -ECANCELED;
}

static int open_log(struct ship *ship)
{
	for (;;) {
		struct failure failure = {};
		uint64_t missing = 0;
		int r = feed_open(ship->options.log, &ship->state.acknowledged, &ship->feed,
				  &missing, &failure);

		if (r == -ENOENT && !ship->options.once && !stopped) {
			pause_msec(ship, LOOK_MSEC);
			continue;
		}
		if (r < 0)
			say("%s%s", failure.text,
			    r == -ESTALE ? "; nothing is sent until this is investigated and "
					   "the state file removed"
					 : "");
		if (r == 0 && missing > 0) {
			say("%llu records behind seq %llu were deleted before the stream had them",
			    (unsigned long long)missing,
			    (unsigned long long)ship->state.acknowledged.sequence);
			ship->state.sending = 0;
		}
		return r;
	}
}

/* Reports in a last presence message why no more records follow. */
static void leave(struct ship *ship, int result)
{
	if (result == -ESTALE && !ship->publisher && !ship->otlp && !ship->options.once &&
	    ship->options.presence > 0)
		(void)connect_to_server(ship);
	if (result != -ESTALE && !stopped)
		return;
	be_present(ship, result == -ESTALE ? PRESENCE_REWRITTEN : PRESENCE_LEAVING);
	if (ship->publisher)
		publisher_flush(ship->publisher);
}

static int run(struct ship *ship)
{
	unsigned char nonce[16];
	int r = uuid_generate_v7(nonce);

	if (r == 0) {
		uuid_format(nonce, ship->nonce);
		r = load_state(ship);
	}
	if (r == 0)
		r = enter_sandbox(ship);
	if (r == 0)
		r = open_log(ship);
	if (r == 0)
		r = connect_to_server(ship);
	if (r == 0)
		r = ship_log(ship);
	leave(ship, r);
	if (stopped && ship->feed && (ship->publisher || ship->otlp))
		(void)save_state(ship, true);
	return stopped && r == -ECANCELED ? 0 : r;
}

int main(int argc, char **argv)
{
	static struct ship ship = {.first = {.lane = BATCH_FIRST}};
	struct sigaction action = {.sa_handler = stop};
	int r = ship_options_parse(argc, argv, &ship.options);

	if (r >= 0)
		return r;
	ship.seed = (unsigned int)clock_nsec(CLOCK_MONOTONIC) ^ (unsigned int)getpid();
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	r = run(&ship);
	if (ship.publisher)
		publisher_close(ship.publisher);
	if (ship.otlp)
		otlp_close(ship.otlp);
	if (ship.feed)
		feed_close(ship.feed);
	policies_release(&ship.policies);
	batch_release(&ship.bulk);
	batch_release(&ship.first);
	return r == 0 ? EXIT_SUCCESS : r == -ESTALE ? EXIT_REWRITTEN : EXIT_FAILURE;
}
