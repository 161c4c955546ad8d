/* SPDX-License-Identifier: Apache-2.0 */
/* What is said to a log's writer, and in which order: records, and one question at a time. */
#include "daemon/privsep/writer_ask.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/privsep/writer_queue.h"
#include "daemon/privsep/writer_state.h"

/*
 * Handed over before the writer is asked whether the last of it is written: a writer with much to
 * do answers in between, so that it is not taken for one that hangs.
 */
#define UNANSWERED_MAX (2 * BATCH_SIZE)

static void add_request(struct writer *w, uint32_t request, const void *payload, size_t size)
{
	const struct writer_header header = {.request = request, .size = (uint32_t)size};

	buffer_add(&w->out, &header, sizeof(header));
	buffer_add(&w->out, payload, size);
}

void writer_ask(struct writer *w, uint32_t request, const void *payload, size_t size)
{
	const struct timeval patience = {.tv_sec = request == WRITER_CLOSE ? CLOSE_PATIENCE_SECONDS
									   : PATIENCE_SECONDS};

	add_request(w, request, payload, size);
	w->wanted[request] = false;
	w->asking = true;
	w->asked = request;
	w->asked_at = clock_nsec(CLOCK_MONOTONIC);
	if (w->late)
		evtimer_add(w->late, &patience);
}

/* Gives it what it does not have. No request is larger than a batch, or than one record. */
static void add_records(struct writer *w)
{
	size_t end = writer_queue_batch_end(w);

	add_request(w, WRITER_APPEND, w->queue.data + w->sent, end - w->sent);
	w->sent = end;
}

/* What it has: those who wait for no more than that are told, others go on waiting. */
static void ask_to_flush(struct writer *w)
{
	bool all = w->sent == w->queue.size;
	bool flush = !all && w->wanted[WRITER_FLUSH], sync = !all && w->wanted[WRITER_SYNC];
	uint32_t request = w->wanted[WRITER_SYNC] && all ? WRITER_SYNC : WRITER_FLUSH;
	uint64_t end = w->confirmed + w->sent;
	struct writer_wait *wait;

	if (w->unsaid > 0 && w->said == 0) {
		add_request(w, WRITER_LOSE, &w->unsaid, sizeof(w->unsaid));
		w->said = w->unsaid;
	}
	w->covers = w->sent;
	w->partial = !all;
	TAILQ_FOREACH(wait, &w->waits, link)
	if (wait->sync && wait->end <= end)
		request = WRITER_SYNC;
	TAILQ_FOREACH(wait, &w->waits, link)
	wait->covered = wait->end <= end && (!wait->sync || request == WRITER_SYNC);
	writer_ask(w, request, NULL, 0);
	w->wanted[WRITER_FLUSH] = flush;
	w->wanted[WRITER_SYNC] = sync;
}

/* Bytes of records that it has, and is not being asked about. */
static size_t unanswered(const struct writer *w)
{
	bool flushing = w->asking && (w->asked == WRITER_FLUSH || w->asked == WRITER_SYNC);

	return w->sent - (flushing ? w->covers : 0);
}

/*
 * Records that keep coming do not keep it from anything else: every other question may be of
 * something else.
 */
static bool is_turn_of_others(const struct writer *w)
{
	return (w->asked == WRITER_FLUSH || w->asked == WRITER_SYNC) &&
	       (w->wanted[WRITER_WRITABLE] || w->wanted[WRITER_TICK]);
}

/* What is said next, in `out`; false: nothing now. */
static bool next_request(struct writer *w)
{
	static const uint32_t others[] = {WRITER_WRITABLE, WRITER_TICK, WRITER_CLOSE};
	bool flush = w->wanted[WRITER_FLUSH] || w->wanted[WRITER_SYNC];

	if (w->asking && w->asked == WRITER_HELLO)
		return false;
	if (w->sent < w->queue.size && unanswered(w) < UNANSWERED_MAX &&
	    (flush || w->queue.size - w->sent >= BATCH_SIZE)) {
		add_records(w);
		return true;
	}
	if (w->asking)
		return false;
	if (!is_turn_of_others(w) && (flush || (unanswered(w) >= UNANSWERED_MAX && !w->failing))) {
		ask_to_flush(w);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!w->wanted[others[i]])
			continue;
		if (others[i] == WRITER_TICK && w->shipped)
			writer_ask(w, others[i], w->shipped->text, w->shipped->size);
		else
			writer_ask(w, others[i], NULL, 0);
		return true;
	}
	return false;
}

int writer_ask_on(struct writer *w)
{
	for (;;) {
		ssize_t n;

		if (w->out.failed)
			return -ENOMEM;
		if (w->out_at == w->out.size) {
			w->out.size = w->out_at = 0;
			if (!next_request(w))
				return 0;
			continue;
		}
		n = send(w->fd, w->out.data + w->out_at, w->out.size - w->out_at,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return w->writable && event_add(w->writable, NULL) < 0 ? -ENOMEM : 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		w->out_at += n > 0 ? (size_t)n : 0;
	}
}

bool writer_ask_is_open(const struct writer *w, uint32_t request)
{
	return w->wanted[request] || (w->asking && w->asked == request);
}

uint64_t writer_ask_silent_nsec(const struct writer *w)
{
	return w->asking ? clock_nsec(CLOCK_MONOTONIC) - w->asked_at : 0;
}
