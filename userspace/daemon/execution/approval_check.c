/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/execution/approval_check.h"

#include "base/clock.h"

int approval_record(void *context, const struct audit_approval *approval)
{
	struct daemon *daemon = context;
	int r = logs_append(daemon->log,
			    audit_record_approval(approval, clock_nsec(CLOCK_REALTIME)));

	if (r >= 0)
		r = logs_flush(daemon->log);
	return r < 0 ? r : 0;
}

int approval_check(struct daemon *daemon, const struct compiled_policy *policy, const char *use,
		   uint32_t uid, char **ret_message, struct failure *failure)
{
	*ret_message = NULL;
	if (!daemon->approvals)
		return 0;
	return approvals_check(daemon->approvals, policy, use, uid, clock_nsec(CLOCK_REALTIME),
			       approval_record, daemon, ret_message, failure);
}
