/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that read for the daemon what comes from outside, one for each user: see
 * reader_process.h. What a user has sent is read one after the other, and an answer is an event of
 * the loop: whose reader is slow, or hangs, keeps nobody else waiting.
 */
#ifndef CORDON_DAEMON_READERS_H
#define CORDON_DAEMON_READERS_H

#include <event2/event.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/failure.h"
#include "daemon/privsep/reader_process.h"

struct readers;
struct reader_question;

/* A packet takes a millisecond; a machine may be crowded. */
#define READER_SECONDS 10

struct readers_options {
	struct event_base *base;
	const char *option; /* what they are started with, see reader_process.h; not copied */
	const char *turn;   /* what the loop is at when they answer, see turn.h; not copied */
	time_t seconds;	    /* for an answer: READER_SECONDS */
};

/* -ENOMEM; -errno of /run/cordon/empty, their root. */
int readers_new(const struct readers_options *options, struct readers **ret_readers,
		struct failure *failure);
void readers_free(struct readers *readers); /* or NULL; nobody is told any more */

struct reader_answer {
	/*
	 * 0: it has said something; -EPROTO: it died or hung over this one, and is replaced;
	 * -EAGAIN: none can be started, for the reason in `error`.
	 */
	int result, error;
	struct reader_reply reply;
	const char *data; /* what follows it, until the callback returns */
	uint64_t took;	  /* ns, from when it was this one's turn */
};

/* The question is over by then. */
typedef void reader_answered(void *context, const struct reader_answer *answer);

/*
 * Has that user's reader say what it makes of the parts together, which are copied. What it says
 * may be anybody's word: readers_distrust() replaces one that says what it cannot. `done` is called
 * once, from the loop. -ENOMEM, -E2BIG; -errno: none can be started.
 */
int readers_ask(struct readers *readers, uid_t uid, enum reader_kind kind,
		const struct iovec *parts, int count, reader_answered *done, void *context,
		struct reader_question **ret_question);

/* Nobody wants the answer any more; may be NULL. */
void readers_cancel(struct reader_question *question);

void readers_distrust(struct readers *readers, uid_t uid);

/*
 * What one packet of a client of that user's says, by the answer to READER_REQUEST. -EBADMSG,
 * -EMSGSIZE: it is none, and `failure` says why; -EPROTO: its reader died or hung over it, or says
 * what it cannot, and is replaced; -EAGAIN: none can be started; -ENOMEM.
 */
int readers_message(struct readers *readers, uid_t uid, const struct reader_answer *answer,
		    json_t **ret_message, struct failure *failure);

#endif
