/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the parser processes of the daemon, one for each user: see reader_process.h. The inputs of a
 * user are parsed in order, and each result is an event of the loop. So a slow or hanging parser
 * process delays no other user.
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

/* A packet takes a millisecond; a loaded machine may need longer. */
#define READER_SECONDS 10

struct readers_options {
	struct event_base *base;
	const char *option; /* command line option, see reader_process.h; not copied */
	const char *turn; /* label of the loop's time slices for results, see turn.h; not copied */
	time_t seconds;	  /* for a result: READER_SECONDS */
};

/* Returns 0, -ENOMEM, or -errno of opening /run/cordon/empty, the root of the processes. */
int readers_new(const struct readers_options *options, struct readers **ret_readers,
		struct failure *failure);
void readers_free(struct readers *readers); /* NULL: does nothing. No callback is called. */

struct reader_answer {
	/*
	 * 0: `reply` is valid; -EPROTO: the process died or hung over this input, and was replaced;
	 * -EAGAIN: no process can be started, because of `error`, a positive errno.
	 */
	int result, error;
	struct reader_reply reply;
	const char *data; /* the bytes after `reply`; valid until the callback returns */
	uint64_t took;	  /* ns, without the time in the queue */
};

/* The pointer from readers_ask() must not be used any more. */
typedef void reader_answered(void *context, const struct reader_answer *answer);

/*
 * Sends the concatenated parts, which are copied, to the parser process of the user. Calls `done`
 * once, from the loop. The result is untrusted: the caller replaces a process that returned an
 * impossible result with readers_distrust(). Returns 0, -ENOMEM, -E2BIG, or -errno if no process
 * can be started.
 */
int readers_ask(struct readers *readers, uid_t uid, enum reader_kind kind,
		const struct iovec *parts, int count, reader_answered *done, void *context,
		struct reader_question **ret_question);

/* Drops the result: `done` is not called. May be NULL. */
void readers_cancel(struct reader_question *question);

void readers_distrust(struct readers *readers, uid_t uid);

/*
 * Returns in *ret_message the message of a client's packet, from the result of READER_REQUEST.
 * Returns 0; -EBADMSG or -EMSGSIZE if the packet is invalid, with the reason in `failure`; -EPROTO
 * if the user's parser process died, hung or returned an impossible result, and was replaced;
 * -EAGAIN if none can be started; or -ENOMEM.
 */
int readers_message(struct readers *readers, uid_t uid, const struct reader_answer *answer,
		    json_t **ret_message, struct failure *failure);

#endif
