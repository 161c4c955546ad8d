/* SPDX-License-Identifier: Apache-2.0 */
/* What has to wait for approval before anything runs under it. */
#include "daemon/execution/approval_check.h"

#include "base/clock.h"

/* The daemon itself, which notices expiries, asks nobody what root is called. */
static const char *name_of(const struct daemon *daemon, uint32_t uid)
{
	char question[NAMES_ACCOUNT_SIZE];
	const struct name *account;

	names_account(uid, question);
	account = names_find(&daemon->names, question);
	return account ? account->login : uid == 0 ? "root" : NULL;
}

int approval_record(void *context, const struct audit_approval *approval)
{
	struct daemon *daemon = context;
	struct audit_approval named = *approval;
	int r;

	named.who = name_of(daemon, named.have_login ? named.login_uid : named.uid);
	r = logs_append(daemon->log, audit_record_approval(&named, clock_nsec(CLOCK_REALTIME)));
	/*
	 * Nobody decided that: whoever happens to launch something comes upon it, and need not wait
	 * for a disk.
	 */
	if (r >= 0 && approval->decision == AUDIT_APPROVAL_EXPIRED)
		daemon_flush_soon(daemon);
	else if (r >= 0)
		r = logs_flush(daemon->log);
	return r < 0 ? r : 0;
}

int approval_require(struct daemon *daemon, bool required, struct failure *failure)
{
	int r = 0;

	required = required || daemon->approvals_by_option;
	if (required && !daemon->approvals)
		r = daemon->state ? approvals_open(daemon->state, &daemon->approvals, failure)
				  : failure_set(failure, ENOENT, "approvals have no directory");
	if (r == 0)
		daemon->approvals_idle = !required;
	return r;
}

struct approvals *approvals_required(const struct daemon *daemon)
{
	return daemon->approvals_idle ? NULL : daemon->approvals;
}

int approval_check(struct daemon *daemon, const struct compiled_policy *policy, const char *use,
		   uint32_t uid, char **ret_message, struct failure *failure)
{
	*ret_message = NULL;
	if (!approvals_required(daemon))
		return 0;
	return approvals_check(daemon->approvals, policy, use, uid, clock_nsec(CLOCK_REALTIME),
			       approval_record, daemon, ret_message, failure);
}
