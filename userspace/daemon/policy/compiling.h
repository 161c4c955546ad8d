/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies that are not resident, or whose files have to be read to see whether they are as they
 * were: compiled or compared beside the loop by a process of its own for each, once for all who
 * wait for the same one. Thousands of rules take a second, and a file system may not answer.
 */
#ifndef CORDON_DAEMON_COMPILING_H
#define CORDON_DAEMON_COMPILING_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "daemon/policy/policies.h"

struct compiling;

struct compiling_wishes {
	struct compiling_wish {
		char *policy;  /* name or path */
		char *purpose; /* what is approved along with it, or NULL */
		bool observe;
		const struct policy_use *use; /* once it is there */
		struct policies_given *given; /* likewise: for policies_get() */
	} *list;
	size_t count;
};

/* -ENOMEM. */
int compiling_wish(struct compiling_wishes *wishes, const char *policy, const char *purpose,
		   bool observe);
void compiling_wishes_release(struct compiling_wishes *wishes);

/*
 * 0: all are there; else as policies_get(), of the first that is not, with its message or NULL. May
 * free it.
 */
typedef void compiling_done(void *context, int result, const char *message,
			    const struct failure *failure);

struct compiling_job {
	struct event_base *base;
	struct policies *policies;
	uid_t uid; /* whose processes they are */
	compiling_done *done;
	void *context;
};

/*
 * Takes the wishes over, also on failure. 0: all are resident; 1: `done` is called. What is there
 * stays until compiling_free(). -ENOMEM, or -errno of fork(2).
 */
int compiling_start(const struct compiling_job *job, struct compiling_wishes *wishes,
		    struct compiling **ret_compiling, struct failure *failure);

/* What it took of processors' time, nanoseconds. */
uint64_t compiling_took(const struct compiling *compiling);
/* NULL: there is none. */
const struct policy_use *compiling_use(const struct compiling *compiling, size_t index);
const char *compiling_purpose(const struct compiling *compiling, size_t index);

/*
 * Nobody waits any more, if `done` was not called; what nobody else uses need not stay. May be
 * NULL.
 */
void compiling_free(struct compiling *compiling);
DEFINE_CLEANUP(struct compiling *, compiling_free, compiling_freep)

#endif
