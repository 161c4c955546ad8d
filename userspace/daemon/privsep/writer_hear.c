/* SPDX-License-Identifier: Apache-2.0 */
/* What a log's writer answers, and what follows from it. */
#include "daemon/privsep/writer_hear.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/privsep/writer_child.h"
#include "daemon/privsep/writer_queue.h"
#include "daemon/privsep/writer_state.h"
#include "daemon/privsep/writer_wait.h"

/*
 * Takes note of where the log's file ends, for the next writer: behind what is confirmed, not
 * behind what this one may have written of the rest. The key is in any case the one at hand.
 */
static void note_position(struct writer *w, bool confirmed)
{
	w->position.key = w->reply.position.key;
	memcpy(w->position.id, w->reply.position.id, sizeof(w->position.id));
	if (confirmed || w->queue.size == 0) {
		w->position.sequence = w->reply.position.sequence;
		memcpy(w->position.chain, w->reply.position.chain, SHA256_SIZE);
	}
	OPENSSL_cleanse(&w->reply.position.key, sizeof(w->reply.position.key));
}

static void note_flushed(struct writer *w, int result)
{
	w->failing = result < 0;
	w->error = result;
	/*
	 * That there was room for these records does not say that there is for more: that is asked
	 * for.
	 */
	if (result < 0)
		w->unwritable = result;
	else if (w->unwritable < 0 && w->settings.base)
		w->wanted[WRITER_WRITABLE] = true;
	if (result == 0) {
		writer_queue_confirm(w);
		w->unsynced = w->asked != WRITER_SYNC && (w->unsynced || w->covers > 0);
		w->unsaid -= w->said;
		w->said = 0;
	}
	note_position(w, result == 0);
	if (result < 0 && w->partial)
		writer_wait_give_up(w, result);
	else
		writer_wait_end_covered(w, result);
}

static void take_reply(struct writer *w)
{
	struct writer_reply *reply = &w->reply;
	char why[64];

	reply->text[sizeof(reply->text) - 1] = '\0';
	w->reply_size = 0;
	w->asking = false;
	w->lost = reply->lost;
	/* One that has closed the log, or could not open it, has none. */
	if (w->asked != WRITER_CLOSE && (w->asked != WRITER_HELLO || reply->result == 0))
		w->figures = reply->figures;
	if (w->late)
		evtimer_del(w->late);
	if (w->asked == WRITER_HELLO && reply->result < 0) {
		if (reply->text[0])
			failure_set(&w->why_not_begun, reply->result, "%s", reply->text);
		writer_child_put_down(w, why, sizeof(why));
		writer_wait_fail(w, reply->result);
		writer_wait_note_answer(w, reply->result);
		return;
	}
	if (w->asked == WRITER_HELLO) {
		w->repaired = reply->repaired;
		w->device = w->place.device;
		w->inode = w->place.inode;
		if (!w->begun && w->settings.begun)
			w->settings.begun(w->repaired, w->settings.context);
		w->begun = true;
	} else {
		w->restarts = w->deaths = 0;
	}
	if (w->asked == WRITER_FLUSH || w->asked == WRITER_SYNC) {
		note_flushed(w, reply->result);
		return;
	}
	note_position(w, false);
	if (w->asked == WRITER_WRITABLE)
		writer_wait_note_answer(w, reply->result);
	else if (w->asked == WRITER_TICK)
		w->later = reply->later;
	else if (w->asked == WRITER_CLOSE)
		writer_wait_note_closed(w);
}

int writer_hear(struct writer *w)
{
	for (;;) {
		ssize_t n = recv(w->fd, (char *)&w->reply + w->reply_size,
				 sizeof(w->reply) - w->reply_size, MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || !w->asking)
			return -EPIPE;
		w->reply_size += (size_t)n;
		if (w->reply_size < sizeof(w->reply))
			continue;
		take_reply(w);
		return 0;
	}
}
