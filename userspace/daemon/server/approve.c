/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/server/approve.h"

#include <string.h>

#include "base/clock.h"
#include "daemon/execution/approval_check.h"
#include "daemon/policy/approvals.h"
#include "control/decide_request.h"
#include "daemon/executor/executors.h"
#include "daemon/peer/member.h"

bool approve_is_authorised(const struct peer *peer)
{
	char group[] = "@" APPROVE_GROUP;
	char *const names[] = {group, NULL};

	return peer_is_one_of(peer, names);
}

static int not_required(struct connection *c)
{
	if (c->daemon->approvals)
		return 0;
	connection_refuse(c, EOPNOTSUPP,
			  "this daemon requires no approvals: start it with --require-approval");
	return -EOPNOTSUPP;
}

/* One that nobody has asked for is compiled as it is now. */
static int get_ahead(struct connection *c, const struct decide_request *request,
		     const struct policy_use **ret_use, char **ret_message, struct failure *failure)
{
	if (!request->policy)
		return 0;
	if (!c->peer.root && !member_is_plain_name(request->policy))
		return failure_set(failure, EPERM, "only root may name a policy by its file");
	return policies_get(c->daemon->policies, request->policy, false, ret_use, ret_message,
			    failure);
}

static int decide(struct connection *c, const struct decide_request *request, json_t **ret_entry,
		  char **ret_message, struct failure *failure)
{
	struct approval_decision decision = {
		.decision = request->decision,
		.digest = request->digest,
		.reason = request->reason,
		.expires = request->expires,
		.who = c->peer.ucred,
	};
	const struct policy_use *use = NULL;
	int r = get_ahead(c, request, &use, ret_message, failure);

	if (r < 0)
		return r;
	decision.ahead = use ? use->policy : NULL;
	r = approvals_decide(c->daemon->approvals, &decision, clock_nsec(CLOCK_REALTIME),
			     approval_record, c->daemon, ret_entry, failure);
	if (use)
		policies_put(c->daemon->policies, use);
	return r;
}

void approve_decide(struct connection *c, json_t *message)
{
	_cleanup_(decide_request_release) struct decide_request request = {};
	_cleanup_(freep) char *text = NULL;
	struct failure failure = {};
	json_t *entry = NULL;
	int r;

	if (not_required(c) < 0)
		return;
	r = decide_request_parse(message, &request, &failure);
	if (r == 0)
		r = decide(c, &request, &entry, &text, &failure);
	if (r < 0)
		return connection_refuse(c, r, text && *text ? text : failure.text);
	/* Its witnesses may be too many for one packet; they are shown before it is decided. */
	json_object_del(entry, "witnesses");
	executors_check_approvals(c->daemon->executors);
	connection_answer(c, json_pack("{s:b,s:o}", "ok", 1, "approval", entry), NULL, 0);
}

void approve_list(struct connection *c, json_t *message)
{
	struct failure failure = {};
	uint32_t from;
	size_t next;
	json_t *list;
	int r;

	if (not_required(c) < 0)
		return;
	r = approvals_request_parse(message, &from, &failure);
	if (r < 0)
		return connection_refuse(c, r, failure.text);
	list = approvals_list(c->daemon->approvals, from, PROTOCOL_MAX_PACKET - 256, &next);
	connection_answer(c,
			  json_pack("{s:b,s:o,s:o}", "ok", 1, "approvals", list, "next",
				    next ? json_integer((json_int_t)next) : json_null()),
			  NULL, 0);
}
