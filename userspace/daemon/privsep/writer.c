/* SPDX-License-Identifier: Apache-2.0 */
/* A log's writer, as the daemon sees it: a process of an unprivileged user (writer_process.h). */
#include "daemon/privsep/writer.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "daemon/privsep/errand.h"
#include "daemon/privsep/writer_ask.h"
#include "daemon/privsep/writer_child.h"
#include "daemon/privsep/writer_keep.h"
#include "daemon/privsep/writer_queue.h"
#include "daemon/privsep/writer_ready.h"
#include "daemon/privsep/writer_share.h"
#include "daemon/privsep/writer_state.h"
#include "daemon/privsep/writer_wait.h"

/* Whoever has more to say had better wait. */
#define QUEUE_BACKLOG (4u << 20)
/*
 * A source of records, such as an execution: a part of what the writer is given in one piece, since
 * the records of all others stand behind it.
 */
#define SOURCE_BACKLOG (BATCH_SIZE / 4)
/* One that has not answered for so long is not waited for by those who need not. */
#define SLOW_NSEC (2 * NSEC_PER_SEC)
/* Then closing it waits no longer than this. */
#define LAST_MSEC 5000
/*
 * For an answer that the loop waits for: whether the log can be written, of a writer that has
 * nothing else to do.
 */
#define WRITABLE_MSEC 50

static void writer_free(struct writer *w)
{
	char why[64];

	writer_child_put_down(w, why, sizeof(why));
	writer_child_drop_event(&w->late);
	writer_child_drop_event(&w->deliver);
	writer_child_drop_event(&w->look);
	errand_cancel(w->looking);
	writer_place_release(&w->place);
	buffer_free(&w->queue);
	buffer_free(&w->out);
	OPENSSL_cleanse(&w->position.key, sizeof(w->position.key));
	free(w->directory);
	free(w);
}

/*
 * One that dies before it could say why was killed, which says nothing about the log: it gets a
 * second try.
 */
static int start_first(struct writer *w, struct failure *failure)
{
	for (int i = 0; i < DEATHS_MAX && !w->failing; i++) {
		int r = writer_keep_start(w, failure);

		if (r < 0)
			return r;
		if (writer_ask_on(w) < 0)
			writer_keep_lost(w, -EPIPE);
		writer_keep_await(w, WRITER_HELLO, PATIENCE_SECONDS * 1000);
		if (w->fd >= 0)
			return w->asking ? failure_set(failure, ETIMEDOUT,
						       "the log's writer does not answer: %m")
					 : 0;
	}
	return w->why_not_begun.text[0]
		       ? failure_set(failure, w->error, "%s", w->why_not_begun.text)
		       : failure_set(failure, w->failing ? w->error : EPIPE,
				     "the log's writer does not answer: %m");
}

static int writer_new(const char *directory, const struct writer_settings *settings,
		      struct writer **ret_writer, struct failure *failure)
{
	struct writer *w = calloc(1, sizeof(*w));

	if (!w)
		return failure_set(failure, ENOMEM, "%m");
	w->fd = -1;
	w->place = WRITER_PLACE_NONE;
	w->settings = *settings;
	TAILQ_INIT(&w->waits);
	TAILQ_INIT(&w->ready);
	TAILQ_INIT(&w->completed);
	w->directory = strdup(directory);
	if (settings->base) {
		w->late = evtimer_new(settings->base, writer_keep_on_late, w);
		w->deliver = evtimer_new(settings->base, writer_wait_on_deliver, w);
		w->look = evtimer_new(settings->base, writer_ready_on_look, w);
	}
	if (!w->directory || (settings->base && (!w->late || !w->deliver || !w->look))) {
		writer_free(w);
		return failure_set(failure, ENOMEM, "%m");
	}
	*ret_writer = w;
	return 0;
}

int writer_open(const char *directory, const struct writer_settings *settings,
		struct writer **ret_writer, uint64_t *ret_repaired, struct failure *failure)
{
	struct writer *w = NULL;
	int r = writer_new(directory, settings, &w, failure);

	if (r < 0)
		return r;
	r = start_first(w, failure);
	if (r < 0) {
		writer_free(w);
		return r;
	}
	*ret_repaired = w->repaired;
	*ret_writer = w;
	return 0;
}

int writer_open_at(const char *directory, struct writer_place *place,
		   const struct writer_settings *settings, struct writer **ret_writer,
		   struct failure *failure)
{
	struct writer *w = NULL;
	int r = writer_new(directory, settings, &w, failure);

	if (r < 0)
		return r;
	w->place = *place;
	*place = WRITER_PLACE_NONE;
	r = writer_keep_start(w, failure);
	if (r < 0) {
		writer_free(w);
		return r;
	}
	if (writer_ask_on(w) < 0)
		writer_keep_lost(w, -EPIPE);
	*ret_writer = w;
	return 0;
}

int writer_open_later(const char *directory, const struct writer_settings *settings,
		      struct writer **ret_writer, struct failure *failure)
{
	return writer_new(directory, settings, ret_writer, failure);
}

bool writer_has_begun(const struct writer *w)
{
	return w->begun;
}

const char *writer_why_not_begun(const struct writer *w)
{
	return w->why_not_begun.text;
}

void writer_abandon(struct writer *w)
{
	writer_free(w);
}

int writer_append(struct writer *w, struct writer_share *share, const char *record, size_t size)
{
	int r;

	if (size <= WRITER_PAYLOAD_MAX / 2 && writer_queue_is_full(w) && !w->failing &&
	    !w->settings.base)
		(void)writer_flush(w, false);
	r = writer_queue_add(w, share, record, size);
	if (r < 0)
		return r;
	/* It can begin while more is gathered. */
	if (!w->failing && w->fd >= 0 && w->out_at == w->out.size &&
	    w->queue.size - w->sent >= BATCH_SIZE && writer_ask_on(w) < 0)
		writer_keep_lost(w, -EPIPE);
	return 0;
}

void writer_flush_soon(struct writer *w, bool sync)
{
	w->wanted[sync ? WRITER_SYNC : WRITER_FLUSH] = true;
	writer_keep_say(w);
}

int writer_when_flushed(struct writer *w, bool sync, writer_done *done, void *context,
			struct writer_wait **ret_wait)
{
	struct writer_wait *wait = calloc(1, sizeof(*wait));

	if (!wait)
		return -ENOMEM;
	wait->sync = sync;
	wait->end = w->confirmed + w->queue.size;
	wait->done = done;
	wait->context = context;
	TAILQ_INSERT_TAIL(&w->waits, wait, link);
	*ret_wait = wait;
	writer_flush_soon(w, sync);
	return 0;
}

void writer_wait_cancel(struct writer *w, struct writer_wait *wait)
{
	if (!wait)
		return;
	if (wait->completed)
		TAILQ_REMOVE(&w->completed, wait, link);
	else
		TAILQ_REMOVE(wait->for_ready ? &w->ready : &w->waits, wait, link);
	free(wait);
}

int writer_flush_within(struct writer *w, bool sync, uint64_t msec)
{
	uint64_t now, end = clock_nsec(CLOCK_MONOTONIC) + msec * NSEC_PER_MSEC;
	struct writer_wait *wait;
	int r = writer_when_flushed(w, sync, NULL, NULL, &wait);

	if (r < 0)
		return r;
	while (!wait->completed && w->fd >= 0 && (now = clock_nsec(CLOCK_MONOTONIC)) < end)
		writer_keep_hear(w, end - now);
	r = wait->completed ? wait->result : -ETIMEDOUT;
	writer_wait_cancel(w, wait);
	return r;
}

int writer_flush(struct writer *w, bool sync)
{
	return writer_flush_within(w, sync, (uint64_t)DEATHS_MAX * (PATIENCE_SECONDS + 1) * 1000);
}

int writer_writable(struct writer *w)
{
	/* It is at work, or hangs: what it said last has to do. */
	if (w->settings.base && w->asking &&
	    (w->unwritable == 0 || writer_ask_silent_nsec(w) > SLOW_NSEC))
		return w->unwritable;
	w->wanted[WRITER_WRITABLE] = true;
	writer_keep_say(w);
	writer_keep_await(w, WRITER_WRITABLE,
			  w->settings.base ? WRITABLE_MSEC : PATIENCE_SECONDS * 1000);
	return w->unwritable;
}

bool writer_tick(struct writer *w)
{
	w->wanted[WRITER_TICK] = true;
	writer_keep_say(w);
	if (!w->settings.base)
		writer_keep_await(w, WRITER_TICK, PATIENCE_SECONDS * 1000);
	/* One that cannot be had now is looked for at the next tick. */
	return w->failing || w->later || writer_ask_is_open(w, WRITER_TICK);
}

void writer_note_shipped(struct writer *w, const struct shipped_text *text)
{
	w->shipped = text;
}

bool writer_is_dirty(const struct writer *w)
{
	return w->queue.size > 0 || w->unsaid > 0;
}

bool writer_is_unsynced(const struct writer *w)
{
	return w->unsynced;
}

bool writer_is_failing(const struct writer *w)
{
	return w->failing;
}

bool writer_is_slow(const struct writer *w)
{
	return writer_ask_silent_nsec(w) > SLOW_NSEC;
}

bool writer_is_behind(const struct writer *w)
{
	return w->queue.size >= QUEUE_BACKLOG && !w->failing && !writer_is_slow(w);
}

bool writer_has_enough(const struct writer *w, struct writer_share *share)
{
	return writer_share_waiting(share, w->confirmed, w->queue.size) >= SOURCE_BACKLOG &&
	       !w->failing && !writer_is_slow(w);
}

uint64_t writer_lost(const struct writer *w)
{
	return w->lost_before + w->lost;
}

void writer_figures(const struct writer *w, struct audit_log_figures *ret_figures)
{
	*ret_figures = w->figures;
	ret_figures->written += w->written_before;
}

const char *writer_directory(const struct writer *w)
{
	return w->directory;
}

void writer_where(const struct writer *w, dev_t *ret_device, ino_t *ret_inode)
{
	*ret_device = w->begun ? w->device : w->place.device;
	*ret_inode = w->begun ? w->inode : w->place.inode;
}

bool writer_is_in(const struct writer *w, dev_t device, ino_t inode)
{
	/* Once it is closed, its file system may be gone, and its numbers another directory's. */
	return w->place.fd >= 0 && w->place.device == device && w->place.inode == inode;
}

void writer_leave(struct writer *w)
{
	w->wanted[WRITER_CLOSE] = true;
	writer_keep_say(w);
}

/* One that has not answered for a while may hang: it has a moment more. */
static int flush_last(struct writer *w)
{
	return writer_is_slow(w) ? writer_flush_within(w, true, LAST_MSEC) : writer_flush(w, true);
}

void writer_close(struct writer *w)
{
	struct writer_wait *wait;

	w->settings.left = NULL;
	if (!w->closed && (writer_ask_is_open(w, WRITER_CLOSE) || flush_last(w) == 0)) {
		if (!writer_ask_is_open(w, WRITER_CLOSE))
			writer_leave(w);
		writer_keep_await(w, WRITER_CLOSE, CLOSE_PATIENCE_SECONDS * 1000);
	}
	while ((wait = TAILQ_FIRST(&w->waits)) != NULL || (wait = TAILQ_FIRST(&w->ready)) != NULL ||
	       (wait = TAILQ_FIRST(&w->completed)) != NULL)
		writer_wait_cancel(w, wait);
	writer_free(w);
}
