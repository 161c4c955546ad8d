/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that may take long or never end, as reading a file that others chose or looking a user up,
 * is done by a process of its own, and the daemon is told when there is an answer. The loop never
 * waits; a process that does not answer in time is killed, and the request it worked for refused.
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
/* What an answer may have, where its job says nothing else. */
#define ERRAND_DATA_MAX (64u << 20)
/*
 * Of one user at a time; the others wait in line. Those count that were killed and are still in the
 * kernel, so that files that never answer cost no more processes than these.
 */
#define ERRANDS_AT_A_TIME 8u

struct errand;

/* -1: none. */
struct errand_fds {
	int fd[ERRAND_FDS];
};

struct errand_fds errand_no_fds(void);

/*
 * In the process, which has the daemon's memory as it was and none of its descriptors: writes its
 * answer to `to`, and puts descriptors that go along, of memory or else not open for reading or
 * writing (O_PATH), into `fds`. 0 or -errno.
 */
typedef int errand_work(const void *context, FILE *to, struct errand_fds *fds,
			struct failure *failure);

/*
 * In the loop: what the work returned, also what it wrote before it failed; -ETIMEDOUT; -EPROTO: it
 * died. Whoever wants a descriptor takes it out (TAKE_FD). The errand is over by then.
 */
typedef void errand_done(void *context, int result, const char *data, size_t size,
			 struct errand_fds *fds, const struct failure *failure);

struct errand_job {
	const char *what; /* for messages: "what reads the code" */
	uid_t uid;	  /* whose it is */
	time_t seconds;	  /* for it to answer; in line, without that it moves */
	errand_work *work;
	errand_done *done;
	void *context;
	size_t most; /* bytes of its answer; 0: ERRAND_DATA_MAX */
	/* Descriptors that the process has as ERRAND_KEPT_FD and the numbers behind it. */
	int kept[ERRAND_FDS];
	size_t kept_count;
};

/* `job` is copied. -errno of fork(2) and others. */
int errand_start(struct event_base *base, const struct errand_job *job, struct errand **ret_errand,
		 struct failure *failure);

/* Nobody wants the answer any more: kills it, and does not wait for its death. May be NULL. */
void errand_cancel(struct errand *errand);

/*
 * For the daemon's start: runs the loop until the errand is over, which sets *errand to NULL in its
 * `done`, or until it has neither replied nor used the processor for `nsec`. Returns 0, -ETIMEDOUT:
 * it goes on; or -ENOMEM.
 */
int errand_wait(struct event_base *base, struct errand *const *errand, uint64_t nsec);

/* What workers that run have used of processors so far, nanoseconds. */
uint64_t errands_processor_nsec(void);

/* All, for the end of the loop. */
void errands_forget(void);

#endif
