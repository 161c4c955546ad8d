/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for records of a log to be written, and is told, from the loop, what became of them. */
#include "daemon/privsep/writer_wait.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/host/turn.h"
#include "daemon/privsep/writer_state.h"

void writer_wait_end(struct writer *w, struct writer_wait *wait, int result)
{
	TAILQ_REMOVE(wait->for_ready ? &w->ready : &w->waits, wait, link);
	wait->completed = true;
	wait->result = result;
	TAILQ_INSERT_TAIL(&w->completed, wait, link);
	/* From the loop: whoever has just asked is not called while it does. */
	if (w->deliver)
		event_active(w->deliver, EV_TIMEOUT, 1);
}

void writer_wait_on_deliver(evutil_socket_t fd, short what, void *context)
{
	TURN("records written");
	struct writer *w = context;
	struct writer_wait *wait, *next;

	(void)fd;
	(void)what;
	for (wait = TAILQ_FIRST(&w->completed); wait; wait = next) {
		next = TAILQ_NEXT(wait, link);
		if (!wait->done)
			continue;
		TAILQ_REMOVE(&w->completed, wait, link);
		wait->done(wait->result, wait->context);
		free(wait);
		/* It may have cancelled others. */
		next = TAILQ_FIRST(&w->completed);
	}
	if (w->closed && w->settings.left)
		w->settings.left(w, w->settings.context);
}

void writer_wait_end_covered(struct writer *w, int result)
{
	struct writer_wait *wait, *next;

	for (wait = TAILQ_FIRST(&w->waits); wait; wait = next) {
		next = TAILQ_NEXT(wait, link);
		if (wait->covered)
			writer_wait_end(w, wait, result);
	}
}

void writer_wait_give_up(struct writer *w, int error)
{
	struct writer_wait *wait;

	w->wanted[WRITER_FLUSH] = w->wanted[WRITER_SYNC] = false;
	while ((wait = TAILQ_FIRST(&w->waits)) != NULL)
		writer_wait_end(w, wait, error);
}

void writer_wait_fail(struct writer *w, int error)
{
	w->failing = true;
	w->error = w->unwritable = error;
	memset(w->wanted, 0, sizeof(w->wanted));
	writer_wait_give_up(w, error);
}

void writer_wait_note_closed(struct writer *w)
{
	w->closed = true;
	if (w->deliver)
		event_active(w->deliver, EV_TIMEOUT, 1);
}

void writer_wait_note_answer(struct writer *w, int answer)
{
	w->answers++;
	w->answer = w->unwritable = answer;
	if (!TAILQ_EMPTY(&w->ready))
		event_active(w->look, EV_TIMEOUT, 1);
}
