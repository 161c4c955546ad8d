/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of an execution that wait for a person: each question is proposed for that execution alone,
 * and has its answer when a rule allows it, when somebody refuses it, or when its time is up. See
 * bpf/core/waiting.bpf.h for how a call waits.
 */
#ifndef CORDON_DAEMON_ASKING_H
#define CORDON_DAEMON_ASKING_H

#include "audit/text/buffer.h"
#include "daemon/execution/execution.h"

/* May its calls wait at all, under its policy and this daemon? */
bool asking_is_possible(const struct execution *e);

/*
 * Its time begins, or goes on under this daemon: calls that an earlier one had waiting are made
 * again, and ask again.
 */
void asking_start(struct execution *e);

/* It is under another policy now: all that wait are made again. */
void asking_policy_changed(struct execution *e);

/*
 * The same where the policy is what it was with an approved rule besides: each question that
 * remains keeps the digests that it had.
 */
void asking_policy_amended(struct execution *e);

/*
 * The digest under which a question is in the inbox now that was there under this one, or one that
 * begins so. -ENOENT: there is none; -EAGAIN: its proposal is still being made; -ENOTUNIQ.
 */
int asking_find_renewed(const struct daemon *daemon, const char *digest,
			char ret_digest[SHA256_TEXT_SIZE]);

/*
 * A process of its waits (CORDON_EVENT_WAITS). `record`: what its denial would be on record as;
 * NULL: that could not be written, and it is refused.
 */
void asking_take(struct execution *e, const struct cordon_event *event,
		 const struct buffer *record);

/* Somebody has decided about what waits in the inbox under this digest, and it is not granted. */
void asking_not_granted(struct daemon *daemon, const char *digest);

/* Nothing is asked for any more: it ends. Nobody goes on. */
void asking_release(struct execution *e);

#endif
