/* SPDX-License-Identifier: Apache-2.0 */
/* What has to wait for approval before anything runs under it. */
#ifndef CORDON_DAEMON_APPROVAL_CHECK_H
#define CORDON_DAEMON_APPROVAL_CHECK_H

#include "daemon/execution/context.h"
#include "daemon/policy/approvals.h"

/*
 * Whether cordon.yaml requires approval; the option does so by itself. What waits or was decided
 * stays known. -errno of the store: it is as before.
 */
int approval_require(struct daemon *daemon, bool required, struct failure *failure);

/* What a policy has to be approved in; NULL: none has to be. */
struct approvals *approvals_required(const struct daemon *daemon);

/*
 * May this policy be used, where approval is required? `use`: see approvals_check(). -EPERM: it
 * waits; *ret_message says why, caller frees. -errno.
 */
int approval_check(struct daemon *daemon, const struct compiled_policy *policy, const char *use,
		   uint32_t uid, char **ret_message, struct failure *failure);

/* An approvals_recorder; `context` is the daemon: on disk in its log when this returns. */
int approval_record(void *context, const struct audit_approval *approval);

#endif
