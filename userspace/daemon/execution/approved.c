/* SPDX-License-Identifier: Apache-2.0 */
/* Has executions run under what was approved for them. */
#include "daemon/execution/approved.h"

#include <string.h>

#include "base/clock.h"
#include "daemon/execution/apply.h"
#include "daemon/execution/approval_check.h"
#include "daemon/execution/proposal.h"

/* Amended policies that were amended again. */
#define CHAIN_MAX 6

/* The next one in the place of *use. False: there is none, or it cannot be used. */
static bool replace(struct daemon *daemon, const char *why, const struct policy_use **use)
{
	const char *file = approvals_amended(daemon->approvals, (*use)->policy, why,
					     clock_nsec(CLOCK_REALTIME), approval_record, daemon);
	_cleanup_(freep) char *text = NULL, *message = NULL;
	const struct policy_use *amended;
	struct failure failure = {};

	if (!file)
		return false;
	if (policies_get_own(daemon->policies, file, &amended, &text, &failure) < 0) {
		daemon_say(daemon, "an approved proposal cannot be used: %s", failure.text);
		return false;
	}
	/* What was approved is that very policy. */
	if (amended == *use ||
	    approval_check(daemon, amended->policy, why, 0, &message, &failure) < 0) {
		policies_put(daemon->policies, amended);
		return false;
	}
	policies_put(daemon->policies, *use);
	*use = amended;
	return true;
}

void approved_amend(struct daemon *daemon, const char *session, uid_t uid,
		    const struct policy_use **use)
{
	_cleanup_(freep) char *for_session = NULL, *for_all = NULL;

	/* One that only observes refuses nothing. */
	if (!approvals_required(daemon) || (*use)->policy->observe)
		return;
	for_session = session ? proposal_use(PROPOSE_SESSION, NULL, session, uid) : NULL;
	for_all = proposal_use(PROPOSE_POLICY, NULL, NULL, 0);
	if (!for_all)
		return;
	for (int i = 0; i < CHAIN_MAX; i++)
		if (!(for_session && replace(daemon, for_session, use)) &&
		    !replace(daemon, for_all, use))
			return;
}

size_t approved_apply(struct daemon *daemon, const json_t *entry, const char *reason,
		      const struct ucred *who)
{
	const char *use = json_string_value(json_object_get(entry, "use"));
	const char *file = json_string_value(json_object_get(entry, "file"));
	json_t *parsed = use ? json_loads(use, 0, NULL) : NULL;
	const char *id = json_string_value(json_object_get(parsed, "execution"));
	struct apply_request request = {
		.policy = (char *)file, .reason = (char *)reason, .use = use};
	_cleanup_(apply_result_release) struct apply_result result = {};
	_cleanup_(freep) char *text = NULL;
	struct failure failure = {};
	int r = -ENOENT;

	if (id && file && strlen(id) < sizeof(request.execution)) {
		snprintf(request.execution, sizeof(request.execution), "%s", id);
		r = apply_policy(daemon, &request, who, &result, &text, &failure);
		if (r < 0)
			daemon_say(daemon, "execution %s: what was approved has no effect: %s", id,
				   failure.text);
	}
	json_decref(parsed);
	return r < 0 ? 0 : result.changed;
}
