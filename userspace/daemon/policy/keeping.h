/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what was compiled beside the log whose records will name it, in a process of its own: the
 * log's file system need not answer, and what it is given is packed first.
 */
#ifndef CORDON_DAEMON_KEEPING_H
#define CORDON_DAEMON_KEEPING_H

#include <event2/event.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "daemon/policy/compiling.h"
#include "daemon/privsep/logs.h"

struct keeping;

/* `result`: 0, -ETIMEDOUT, or as logs_put_policy(). The keeping may be freed there. */
typedef void keeping_done(void *context, int result, const struct failure *failure);

struct keeping_job {
	struct event_base *base;
	const struct compiling *compiling; /* stays until it is over */
	struct log_use *log;		   /* of which it is noted then */
	uid_t uid;			   /* whose wish it is */
	keeping_done *done;
	void *context;
};

/* 0: nothing is missing, as far as is known; 1: `done` is called; -errno as errand_start(). */
int keeping_start(const struct keeping_job *job, struct keeping **ret_keeping,
		  struct failure *failure);

/* NULL is allowed; what is on its way is given up. */
void keeping_free(struct keeping *keeping);
DEFINE_CLEANUP(struct keeping *, keeping_free, keeping_freep)

#endif
