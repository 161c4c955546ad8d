/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: one-shot processes for work that may block or never end, such as reading a file that a
 * client chose, or looking a user up. The loop never waits for them: a reply is an event. A worker
 * that does not reply in time is killed, and its job fails with -ETIMEDOUT.
 */
#ifndef CORDON_DAEMON_ERRAND_H
#define CORDON_DAEMON_ERRAND_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/failure.h"

#define ERRAND_FDS     16u
#define ERRAND_KEPT_FD 4
/* Limit of a reply in bytes, if the job has no other. */
#define ERRAND_DATA_MAX (64u << 20)
/*
 * Workers of one user that run at the same time; further jobs are queued. A killed worker counts
 * until the kernel has ended it, so that files that never respond cost no more processes than
 * these.
 */
#define ERRANDS_AT_A_TIME 8u

struct errand;

/* -1: none. */
struct errand_fds {
	int fd[ERRAND_FDS];
};

struct errand_fds errand_no_fds(void);

/*
 * Runs in the worker, which has a copy of the daemon's memory, and of its descriptors only
 * job.kept. Writes the reply to `to`. Puts descriptors for the daemon into `fds`: memory files, or
 * descriptors that permit neither reading nor writing (O_PATH). Returns 0, or -errno.
 */
typedef int errand_work(const void *context, FILE *to, struct errand_fds *fds,
			struct failure *failure);

/*
 * Runs in the loop at the end of the job. `result`: the return value of the work, where `data` is
 * valid also if the work failed; -ETIMEDOUT; -EPROTO if the worker died; or another error of
 * receiving the reply. Takes the descriptors that it keeps (TAKE_FD); the others are closed
 * afterwards. The errand's pointer is invalid from here on.
 */
typedef void errand_done(void *context, int result, const char *data, size_t size,
			 struct errand_fds *fds, const struct failure *failure);

struct errand_job {
	const char *what; /* name in messages */
	uid_t uid;	  /* user that it counts for */
	/* For its reply. In the queue, it counts anew while other jobs of the user progress. */
	time_t seconds;
	errand_work *work;
	errand_done *done;
	void *context;
	size_t most; /* bytes of the reply; 0: ERRAND_DATA_MAX */
	/* Descriptors that the worker gets as ERRAND_KEPT_FD and the numbers after it. */
	int kept[ERRAND_FDS];
	size_t kept_count;
};

/*
 * Starts a worker, or queues the job. Copies `job`; `context` must stay valid. Returns 0, or
 * -errno, as of fork(2).
 */
int errand_start(struct event_base *base, const struct errand_job *job, struct errand **ret_errand,
		 struct failure *failure);

/* Kills the worker, and does not wait for its death. `done` is not called. May be NULL. */
void errand_cancel(struct errand *errand);

/*
 * For the daemon's start: runs the loop until `done` has set *errand to NULL, or until no worker
 * has used the processor for `nsec`. Returns 0, -ETIMEDOUT if the worker still runs, or -ENOMEM.
 */
int errand_wait(struct event_base *base, struct errand *const *errand, uint64_t nsec);

/* Returns the processor time that running workers have used so far, in nanoseconds. */
uint64_t errands_processor_nsec(void);

/* Kills and frees all workers, for the end of the loop. */
void errands_forget(void);

#endif
