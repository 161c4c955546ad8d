/* SPDX-License-Identifier: Apache-2.0 */
/* Has an execution run under rules for what protected names of its work directory lead to. */
#include "daemon/execution/indirect.h"

#include "daemon/execution/events.h"
#include "daemon/policy/indirect_policy.h"

int indirect_amend(struct execution *e, char *const *texts, char **ret_message,
		   struct failure *failure)
{
	_cleanup_(freep) char *path = NULL;
	const struct policy_use *amended;
	char **active = NULL;
	int r = indirect_policy_make(DAEMON_INDIRECTIONS, e->policy->policy, texts, &path, &active,
				     failure);

	if (r < 0 || !path)
		return r;
	r = policies_get(e->daemon->policies, path, e->record.observe, &amended, ret_message,
			 failure);
	if (r < 0) {
		compiled_strings_free(active);
		return r;
	}
	if (e->adopted) {
		/* The kernel may have decided by the policy that it replaces. */
		enforcement_set_policy(e->daemon->enforcement, e->slot, amended->ref);
		e->previous = e->policy;
		events_await_previous(e);
	} else {
		policies_put(e->daemon->policies, e->policy);
	}
	e->policy = amended;
	e->record.policy = amended->policy;
	compiled_strings_free(e->record.indirections);
	e->record.indirections = active;
	return 0;
}
