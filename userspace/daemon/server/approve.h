/* SPDX-License-Identifier: Apache-2.0 */
/* Approvals in the daemon: what has to wait for one, and what authorised people say. */
#ifndef CORDON_DAEMON_APPROVE_H
#define CORDON_DAEMON_APPROVE_H

#include "daemon/server/connection.h"

/* The group whose members may decide, besides root. */
#define APPROVE_GROUP "cordon-approvers"

bool approve_is_authorised(const struct peer *peer);

/*
 * May this policy be used, where approval is required? `use`: see approvals_check(). -EPERM: it waits; *ret_message says why, caller
 * frees. -errno.
 */
int approve_check(struct daemon *daemon, const struct compiled_policy *policy, const char *use,
		  uint32_t uid, char **ret_message, struct failure *failure);

/* The two requests, answered. */
void approve_decide(struct connection *c, json_t *message);
void approve_list(struct connection *c, json_t *message);

#endif
