/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was compiled beside the loop, compared there as well with what is approved of its name, so
 * that the loop finds the outcome: see comparison.h.
 */
#ifndef CORDON_DAEMON_COMPARING_H
#define CORDON_DAEMON_COMPARING_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "daemon/policy/approvals.h"
#include "daemon/policy/compiling.h"

struct comparing;

struct comparing_job {
	struct event_base *base;
	struct approvals *approvals;	   /* or NULL: nothing is to be approved */
	const struct compiling *compiling; /* that stays, and is done; or NULL */
	uid_t uid;			   /* whose processes they are */
	/*
	 * What could be compared is; what could not, the loop tries for a moment. 0, or -errno of
	 * starting a process. May free it.
	 */
	void (*done)(void *context, int result, const struct failure *failure);
	void *context;
};

/* 0: there is nothing to compare; 1: `done` is called. -ENOMEM, or -errno of fork(2). */
int comparing_start(const struct comparing_job *job, struct comparing **ret_comparing,
		    struct failure *failure);

/* What it took of processors' time, nanoseconds. */
uint64_t comparing_took(const struct comparing *comparing);

/* Nobody waits any more, if `done` was not called. May be NULL. */
void comparing_free(struct comparing *comparing);
DEFINE_CLEANUP(struct comparing *, comparing_free, comparing_freep)

#endif
