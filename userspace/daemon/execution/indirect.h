/* SPDX-License-Identifier: Apache-2.0 */
/* Has an execution run under rules for what protected names of its work directory lead to. */
#ifndef CORDON_DAEMON_INDIRECT_H
#define CORDON_DAEMON_INDIRECT_H

#include "daemon/execution/execution.h"

/*
 * Puts such a policy in the place of e->policy if one is needed, and what it is for into the
 * record. Returns 0 or as policies_get(), with its message.
 */
int indirect_amend(struct execution *e, char *const *texts, char **ret_message,
		   struct failure *failure);

#endif
