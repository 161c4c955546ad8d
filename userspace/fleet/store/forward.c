/* SPDX-License-Identifier: Apache-2.0 */
/* Sends rows to ClickHouse in a thread, one request at a time with pauses between them. */
#include "fleet/store/forward.h"

#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/clickhouse/client.h"
#include "fleet/store/outgoing.h"

/* Pause between batches, because few large inserts cost less than many small ones. */
#define INTERVAL       (1 * NSEC_PER_SEC)
#define RETRY_MIN_MSEC 200u
#define RETRY_MAX_MSEC 60000u

enum job {
	JOB_NONE,
	JOB_LOOK, /* read the last record that the server has of each log */
	JOB_SEND,
	JOB_END,
};

struct forward {
	struct outgoing outgoing;
	struct clickhouse *clickhouse;
	struct forward_options options;
	char reported[sizeof(((struct failure *)NULL)->text)]; /* empty after success */
	bool looked, has_batch;
	uint64_t begun, not_before; /* monotonic, ns */
	uint64_t retry_msec;
	unsigned int seed;

	/* Shared with the thread: its job and the job's result. */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	atomic_bool cancel;
	enum job job;
	bool done;
	int result;
	uint64_t wait;
	struct buffer answer;
	struct failure failure;
};

/* Reads the last record of each log, and the time of the oldest row of all logs. */
static const char look_sql[] =
	"SELECT host, log, max(seq), toUnixTimestamp64Nano(min(min(time)) OVER ()) FROM records"
	" GROUP BY host, log FORMAT JSONCompactEachRow";

static int do_job(struct forward *f, enum job job)
{
	f->failure.text[0] = '\0';
	f->wait = 0;
	if (job == JOB_SEND)
		return clickhouse_insert(f->clickhouse, "records", f->outgoing.token,
					 &f->outgoing.lines, &f->wait, &f->failure);
	f->answer.size = 0;
	return clickhouse_ask(f->clickhouse, look_sql, NULL, 0, &f->answer, &f->failure);
}

static void *work(void *data)
{
	struct forward *f = data;

	pthread_mutex_lock(&f->lock);
	while (f->job != JOB_END) {
		enum job job = f->job;
		int r;

		if (job == JOB_NONE || f->done) {
			pthread_cond_wait(&f->changed, &f->lock);
			continue;
		}
		pthread_mutex_unlock(&f->lock);
		r = do_job(f, job);
		pthread_mutex_lock(&f->lock);
		f->result = r;
		f->done = true;
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

static void give(struct forward *f, enum job job)
{
	pthread_mutex_lock(&f->lock);
	f->job = job;
	f->done = false;
	pthread_cond_signal(&f->changed);
	pthread_mutex_unlock(&f->lock);
	f->begun = clock_nsec(CLOCK_MONOTONIC);
}

/* Returns the finished job, or JOB_NONE if there is none yet. */
static enum job take_done(struct forward *f)
{
	enum job job = JOB_NONE;

	pthread_mutex_lock(&f->lock);
	if (f->done) {
		job = f->job;
		f->job = JOB_NONE;
		f->done = false;
	}
	pthread_mutex_unlock(&f->lock);
	return job;
}

int forward_open(struct rows *rows, const struct forward_options *options,
		 struct forward **ret_forward, struct failure *failure)
{
	struct forward *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return failure_set(failure, ENOMEM, "out of memory");
	f->outgoing.rows = rows;
	f->options = *options;
	f->retry_msec = RETRY_MIN_MSEC;
	f->seed = (unsigned int)clock_nsec(CLOCK_REALTIME);
	atomic_init(&f->cancel, false);
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	r = clickhouse_open(options->settings, &f->cancel, &f->clickhouse, failure);
	if (r == 0) {
		r = -pthread_create(&f->thread, NULL, work, f);
		f->has_thread = r == 0;
		if (r < 0)
			(void)failure_set(failure, r, "cannot start a thread: %m");
	}
	if (r < 0) {
		forward_close(f);
		return r;
	}
	*ret_forward = f;
	return 0;
}

void forward_close(struct forward *f)
{
	atomic_store(&f->cancel, true);
	if (f->has_thread) {
		give(f, JOB_END);
		pthread_join(f->thread, NULL);
	}
	if (f->clickhouse)
		clickhouse_close(f->clickhouse);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	buffer_free(&f->answer);
	outgoing_release(&f->outgoing);
	free(f);
}

/* Delays the next attempt, with jitter so that stores do not retry simultaneously. */
static void try_later(struct forward *f, const struct failure *why)
{
	uint64_t pause = f->retry_msec * NSEC_PER_MSEC;
	struct failure said = {};

	pause += (uint64_t)rand_r(&f->seed) % (pause / 2);
	if (pause < f->wait)
		pause = f->wait;
	f->not_before = clock_nsec(CLOCK_MONOTONIC) + pause;
	f->retry_msec = f->retry_msec * 2 < RETRY_MAX_MSEC ? f->retry_msec * 2 : RETRY_MAX_MSEC;
	(void)failure_set(&said, EAGAIN, "%s; rows wait here", why->text);
	if (strcmp(f->reported, said.text) != 0)
		f->options.report(said.text);
	memcpy(f->reported, said.text, sizeof(f->reported));
}

/* Sends the rows again that the server acknowledged and then lost. */
static int restore(struct forward *f, const char *host, const char *log, uint64_t sequence,
		   uint64_t oldest, struct failure *failure)
{
	uint64_t sent = 0;
	struct failure said = {};
	int r = outgoing_lost(&f->outgoing, host, log, sequence, oldest, &sent, failure);

	if (r <= 0)
		return r;
	(void)failure_set(&said, ENODATA,
			  "ClickHouse has lost the records %" PRIu64 " to %" PRIu64
			  " of the log %s, which it had acknowledged, and gets them again",
			  sequence + 1, sent, log);
	f->options.report(said.text);
	return f->options.restore(f->options.data, host, log, sequence + 1, sent, failure);
}

struct looking {
	struct forward *forward;
	bool is_new;
	json_t *seen;	 /* "HOST/LOG" */
	uint64_t oldest; /* ns */
	struct failure *failure;
};

static void write_key(char key[2 * DELIVERY_ID_SIZE], const char *host, const char *log)
{
	(void)snprintf(key, 2 * DELIVERY_ID_SIZE, "%.64s/%.64s", host, log);
}

/* Processes one line of the result. */
static int look_at(struct looking *l, const char *line, size_t size)
{
	struct forward *f = l->forward;
	json_t *row = json_loadb(line, size, 0, NULL);
	char key[2 * DELIVERY_ID_SIZE];
	const char *host, *log;
	json_int_t sequence, oldest;
	int r = -EPROTO;

	if (row && json_unpack(row, "[ssII]", &host, &log, &sequence, &oldest) == 0) {
		write_key(key, host, log);
		json_object_set_new(l->seen, key, json_true());
		l->oldest = (uint64_t)oldest;
		r = l->is_new
			    ? outgoing_has(&f->outgoing, host, log, (uint64_t)sequence, l->failure)
			    : restore(f, host, log, (uint64_t)sequence, l->oldest, l->failure);
	}
	json_decref(row);
	return r == -EPROTO
		       ? failure_set(l->failure, EPROTO,
				     "ClickHouse sent a malformed result instead of its records")
		       : r;
}

static int look_at_all(struct looking *l)
{
	const char *line;
	size_t at = 0, size;
	int r = 0;

	while (r == 0 && clickhouse_line(&l->forward->answer, &at, &line, &size))
		r = look_at(l, line, size);
	return r;
}

/* For a log with sent rows that the result does not contain: all its rows may be lost. */
static int look_for(void *data, const char *host, const char *log)
{
	struct looking *l = data;
	char key[2 * DELIVERY_ID_SIZE];

	write_key(key, host, log);
	return json_object_get(l->seen, key)
		       ? 0
		       : restore(l->forward, host, log, 0, l->oldest, l->failure);
}

static int look(struct forward *f, struct failure *failure)
{
	struct looking l = {.forward = f, .seen = json_object(), .failure = failure};
	int r = outgoing_is_new(&f->outgoing, failure);

	l.is_new = r > 0;
	if (r >= 0)
		r = look_at_all(&l);
	if (r == 0 && l.is_new)
		r = outgoing_known(&f->outgoing, failure);
	else if (r == 0)
		r = outgoing_visit_sent(&f->outgoing, l.oldest, look_for, &l, failure);
	json_decref(l.seen);
	return r;
}

/* Runs look() in one transaction. */
static int look_whole(struct forward *f, struct failure *failure)
{
	int r = rows_begin(f->outgoing.rows, failure);

	if (r < 0)
		return r;
	r = look(f, failure);
	if (r == 0)
		r = rows_commit(f->outgoing.rows, failure);
	f->looked = r == 0;
	if (r == 0)
		return 0;
	rows_rollback(f->outgoing.rows);
	return r;
}

static int finish(struct forward *f, enum job job, struct failure *failure)
{
	struct failure why = f->failure;
	int r = f->result;

	/* After an outage the server may have been restored from an older backup. */
	if (r == -EHOSTUNREACH)
		f->looked = false;
	if (r == 0 && job == JOB_LOOK)
		r = look_whole(f, &why);
	if (f->result < 0 || r == -EPROTO) {
		try_later(f, &why);
		return FORWARD_LATER;
	}
	f->retry_msec = RETRY_MIN_MSEC;
	f->reported[0] = '\0';
	if (r < 0)
		return failure_set(failure, r, "%s", why.text);
	if (job == JOB_LOOK)
		return FORWARD_BUSY;
	f->has_batch = false;
	f->not_before = f->outgoing.full ? 0 : f->begun + INTERVAL;
	r = outgoing_arrived(&f->outgoing, failure);
	return r < 0 ? r : FORWARD_ARRIVED;
}

int forward_turn(struct forward *f, struct failure *failure)
{
	enum job job = take_done(f);
	int r;

	if (job != JOB_NONE)
		return finish(f, job, failure);
	/* Only this thread changes it from and to JOB_NONE. */
	if (f->job != JOB_NONE)
		return FORWARD_BUSY;
	if (clock_nsec(CLOCK_MONOTONIC) < f->not_before)
		return f->reported[0] ? FORWARD_LATER : FORWARD_PAUSE;
	/*
	 * First resend the batch with an unknown result: then the server's last records are
	 * reliable.
	 */
	if (!f->has_batch) {
		r = f->looked ? outgoing_next(&f->outgoing, failure)
			      : outgoing_again(&f->outgoing, failure);
		if (r < 0)
			return r;
		f->has_batch = r > 0;
	}
	if (!f->has_batch && f->looked)
		return FORWARD_IDLE;
	give(f, f->has_batch ? JOB_SEND : JOB_LOOK);
	return FORWARD_BUSY;
}
