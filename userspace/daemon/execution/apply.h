/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts running executions under another policy: all that were asked for, or none. What a policy
 * decides in the kernel changes at once for each; limits and environment stay those of the launch.
 */
#ifndef CORDON_DAEMON_APPLY_H
#define CORDON_DAEMON_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "daemon/execution/context.h"
#include "control/request.h"

struct apply_result {
	char *name; /* of the policy */
	char digest
		[65]; /* of the policy as applied; of its observing twin where all only observe */
	size_t changed;
	size_t unchanged; /* were under it already */
	char **wider;	  /* what it allows besides, NULL-terminated */
};

void apply_result_release(struct apply_result *result);

/* One that is being made: each execution is told of in its log before, in its state file after. */
struct apply;

/* Targets of which a turn of the loop has time for what is to be done. */
#define APPLY_AT_A_TIME 16

/*
 * Finds out whom it is for, and whether it may be made. The request stays the caller's until the
 * end. *ret_message: text for the caller that is longer than a failure holds, or NULL; caller
 * frees.
 *
 * -ESRCH: no such execution is live; -EPERM: the policy allows more than one in force and no reason
 * was given (the text says what); -EINVAL: an error in the policy, or a variable that it names
 * is not bound as it expects; -EBUSY: another change is being made to one of them; or as
 * policies_get() and logs_writable(). Nothing has changed then.
 */
int apply_begin(struct daemon *daemon, const struct apply_request *request,
		const struct ucred *peer, struct apply **ret_apply, char **ret_message,
		struct failure *failure);

/*
 * Does so much more of it. 1: there is more to do; 0: the change is made; -errno: an execution
 * could not be told of, or one that began meanwhile may not be changed, and none is. Between two
 * calls executions may begin, which are changed as well, and end.
 */
int apply_go_on(struct apply *apply, size_t targets, struct apply_result *ret_result,
		struct failure *failure);

/* Before its end, it is left to the next daemon: in the kernel it is made for all, or for none. */
void apply_free(struct apply *apply);
DEFINE_CLEANUP(struct apply *, apply_free, apply_freep)

/* All of it at once, for a few; as both. */
int apply_policy(struct daemon *daemon, const struct apply_request *request,
		 const struct ucred *peer, struct apply_result *ret_result, char **ret_message,
		 struct failure *failure);

/* If a change of it is announced and not made: it will not be, and the execution's log says so. */
void apply_drop_change(struct execution *e);

/*
 * For which of its two forms, in force ([0]) and as one that only observes ([1]), there are
 * executions that it is for.
 */
void apply_forms(const struct daemon *daemon, const struct apply_request *request,
		 bool ret_forms[2]);

/* Says in its log that the change which is on record there was not made. */
void apply_record_unchanged(struct execution *e, const char *policy, const char *digest);

#endif
