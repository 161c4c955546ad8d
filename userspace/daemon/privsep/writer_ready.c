/* SPDX-License-Identifier: Apache-2.0 */
/* Answers those who wait for the word whether a log can be written. */
#include "daemon/privsep/writer_ready.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/writer.h"
#include "daemon/privsep/writer_ask.h"
#include "daemon/privsep/writer_keep.h"
#include "daemon/privsep/writer_state.h"
#include "daemon/privsep/writer_wait.h"

/*
 * A machine with much to do takes its time to start another; whoever waits gives up later than
 * that.
 */
#define READY_NSEC (8 * NSEC_PER_SEC)
/* A question that no writer has lived to answer is asked again. */
#define LOOK_USEC 50000

/* One that is there, and whose last word was yes, is asked when it is needed. */
static bool is_ready(struct writer *w)
{
	return !writer_keep_is_away(w) && !(w->asking && w->asked == WRITER_HELLO) &&
	       w->unwritable == 0;
}

static void ask(struct writer *w)
{
	/* To say something now would be in vain, and would fail what others wait for. */
	if (w->looking || writer_ask_is_open(w, WRITER_WRITABLE) ||
	    (w->fd < 0 && clock_nsec(CLOCK_MONOTONIC) < w->not_before))
		return;
	w->wanted[WRITER_WRITABLE] = true;
	writer_keep_say(w);
}

static void end_some(struct writer *w)
{
	uint64_t now = clock_nsec(CLOCK_MONOTONIC);
	struct writer_wait *wait, *next;

	for (wait = TAILQ_FIRST(&w->ready); wait; wait = next) {
		next = TAILQ_NEXT(wait, link);
		/* Of a writer that may be in another place by now, an answer is none. */
		if (wait->answers != w->answers && !w->looking)
			writer_wait_end(w, wait, w->answer);
		else if (now >= wait->until)
			writer_wait_end(w, wait, w->unwritable < 0 ? w->unwritable : -ETIMEDOUT);
	}
}

void writer_ready_on_look(evutil_socket_t fd, short what, void *context)
{
	TURN("log writer");
	const struct timeval after = {.tv_usec = LOOK_USEC};
	struct writer *w = context;

	(void)fd;
	(void)what;
	end_some(w);
	if (TAILQ_EMPTY(&w->ready))
		return;
	ask(w);
	/* It may have been refused at once, which is an answer. */
	evtimer_add(w->look, &after);
}

int writer_when_ready(struct writer *w, writer_done *done, void *context,
		      struct writer_wait **ret_wait)
{
	struct writer_wait *wait;

	if (!w->settings.base || is_ready(w))
		return 0;
	wait = calloc(1, sizeof(*wait));
	if (!wait)
		return -ENOMEM;
	wait->for_ready = true;
	wait->answers = w->answers;
	wait->until = clock_nsec(CLOCK_MONOTONIC) + READY_NSEC;
	wait->done = done;
	wait->context = context;
	TAILQ_INSERT_TAIL(&w->ready, wait, link);
	event_active(w->look, EV_TIMEOUT, 1);
	*ret_wait = wait;
	return 1;
}
