/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of what was proposed and approved: on executions that begin, and on one that runs. */
#ifndef CORDON_DAEMON_APPROVED_H
#define CORDON_DAEMON_APPROVED_H

#include <jansson.h>
#include <sys/socket.h>

#include "daemon/execution/context.h"
#include "daemon/policy/policies.h"

/*
 * The policy that was approved in the place of *use for this session, or for all: takes over the
 * reference, and gives one. What cannot be used leaves it as it is. `session`: NULL: none. `uid`:
 * whose session it is.
 */
void approved_amend(struct daemon *daemon, const char *session, uid_t uid,
		    const struct policy_use **use);

/*
 * One was approved: puts the execution that it is for under it, if it is for one. How many were: 0
 * or 1.
 */
size_t approved_apply(struct daemon *daemon, const json_t *entry, const char *reason,
		      const struct ucred *who);

#endif
