/* SPDX-License-Identifier: Apache-2.0 */
/* Approvals in the daemon: what authorised people say. */
#include "daemon/server/approve.h"

#include <string.h>

#include "base/clock.h"
#include "base/hex.h"
#include "daemon/execution/approval_check.h"
#include "daemon/execution/asking.h"
#include "daemon/execution/approved.h"
#include "daemon/policy/approvals.h"
#include "control/decide_request.h"
#include "daemon/executor/executors.h"
#include "daemon/host/turn.h"
#include "daemon/peer/member.h"
#include "daemon/privsep/errand.h"

bool approve_is_authorised(const struct peer *peer)
{
	char group[] = "@" APPROVE_GROUP;
	char *const names[] = {group, NULL};

	return peer_is_one_of(peer, names);
}

int approve_not_required(struct connection *c)
{
	if (approvals_required(c->daemon))
		return 0;
	connection_refuse(
		c, EOPNOTSUPP,
		"this daemon requires no approvals: start it with --require-approval, or have "
		"`require_approval: true` in cordon.yaml");
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

static struct approval_decision decision_of(const struct connection *c,
					    const struct decide_request *request)
{
	return (struct approval_decision){
		.decision = request->decision,
		.digest = request->digest,
		.reason = request->reason,
		.expires = request->expires,
		.who = c->peer.ucred,
		.own_allowed = c->daemon->own_approvals,
	};
}

/* What it is about; only what is to be granted is looked at closer. */
static int find_subject(struct connection *c, const struct decide_request *request,
			unsigned char ret_identity[SHA256_SIZE], char **ret_message,
			struct failure *failure)
{
	struct approval_decision decision = decision_of(c, request);
	const struct policy_use *use = NULL;
	int r = get_ahead(c, request, &use, ret_message, failure);

	if (r < 0)
		return r;
	decision.ahead = use ? use->policy : NULL;
	r = approvals_subject(c->daemon->approvals, &decision, clock_nsec(CLOCK_REALTIME),
			      approval_record, c->daemon, ret_identity, failure);
	if (use)
		policies_put(c->daemon->policies, use);
	return r;
}

static void decide(struct connection *c, const struct decide_request *request,
		   const unsigned char identity[SHA256_SIZE])
{
	struct approval_decision decision = decision_of(c, request);
	char digest[SHA256_TEXT_SIZE];
	struct failure failure = {};
	json_t *entry = NULL;
	size_t changed = 0;
	bool own;
	int r;

	hex_encode(identity, SHA256_SIZE, digest);
	decision.digest = digest;
	own = approvals_is_own(c->daemon->approvals, &decision);
	r = approvals_decide(c->daemon->approvals, &decision, clock_nsec(CLOCK_REALTIME),
			     approval_record, c->daemon, &entry, &failure);
	if (r < 0)
		return connection_refuse(c, r, failure.text);
	/* Root may, and nobody else looked at it. */
	if (own)
		daemon_alert(c->daemon, "approval-own",
			     json_pack("{s:s,s:O,s:I}", "digest", digest, "policy",
				       json_object_get(entry, "policy"), "uid",
				       (json_int_t)c->peer.ucred.uid));
	executors_check_approvals(c->daemon->executors);
	if (request->decision == AUDIT_APPROVAL_GRANTED)
		changed = approved_apply(c->daemon, entry, request->reason, &c->peer.ucred);
	else
		asking_not_granted(c->daemon, digest);
	/* Its witnesses may be too many for one packet; they are shown before it is decided. */
	json_object_del(entry, "witnesses");
	connection_answer(c,
			  json_pack("{s:b,s:o,s:I}", "ok", 1, "approval", entry, "changed",
				    (json_int_t)changed),
			  NULL, 0);
}

/* --- while its rules are found ------------------------------------------------------------- */

/* Whoever approves waits for it. */
#define RULES_SECONDS 60
#define RETRY_MSEC    50
#define RETRIES_MAX   (RULES_SECONDS * 1000 / RETRY_MSEC)

/* A grant: its record has every rule, which an errand finds. */
struct approve_pending {
	struct connection *connection;
	const struct approvals *approvals;
	const char *const *directories;
	struct decide_request request;
	unsigned char identity[SHA256_SIZE];
	struct errand *errand;
	struct event *retry; /* while the question is proposed again under another digest */
	unsigned int tries;
	uint64_t since; /* wall clock */
};

static void pending_free(struct approve_pending *p)
{
	if (p->retry)
		event_free(p->retry);
	decide_request_release(&p->request);
	free(p);
}

static int find_rules(const void *context, FILE *to, struct errand_fds *fds,
		      struct failure *failure)
{
	const struct approve_pending *p = context;

	(void)fds;
	return approvals_write_rules(p->approvals, p->identity, p->directories, to, failure);
}

/* It lasts as long as it was to, from when it is granted. */
static void put_off(struct approve_pending *p)
{
	uint64_t now = clock_nsec(CLOCK_REALTIME);

	if (p->request.expires > p->since && now > p->since)
		p->request.expires += now - p->since;
}

static void on_rules(void *context, int result, const char *data, size_t size,
		     struct errand_fds *fds, const struct failure *failure)
{
	struct approve_pending *p = context;
	struct connection *c = p->connection;

	(void)fds;
	c->approve_pending = NULL;
	if (result == 0)
		result = approvals_take_rules(c->daemon->approvals, p->identity, data, size);
	if (result < 0) {
		daemon_say(c->daemon, "an approval has no example for every rule on record: %s",
			   failure && failure->text[0] ? failure->text : strerror(-result));
		(void)approvals_take_texts(c->daemon->approvals, p->identity);
	}
	put_off(p);
	decide(c, &p->request, p->identity);
	pending_free(p);
}

static int start_pending(struct connection *c, struct decide_request *request,
			 const unsigned char identity[SHA256_SIZE], struct failure *failure)
{
	struct approve_pending *p = calloc(1, sizeof(*p));
	struct errand_job job = {
		.what = "what compares policies",
		.uid = c->peer.ucred.uid,
		.seconds = RULES_SECONDS,
		.work = find_rules,
		.done = on_rules,
		.context = p,
	};
	int r;

	if (!p)
		return -ENOMEM;
	p->connection = c;
	p->since = clock_nsec(CLOCK_REALTIME);
	p->approvals = c->daemon->approvals;
	p->directories = policies_directories(c->daemon->policies);
	memcpy(p->identity, identity, SHA256_SIZE);
	r = errand_start(c->daemon->base, &job, &p->errand, failure);
	if (r < 0) {
		free(p);
		return r;
	}
	p->request = *request;
	*request = (struct decide_request){};
	c->approve_pending = p;
	return 0;
}

void approve_forget(struct connection *c)
{
	if (!c->approve_pending)
		return;
	errand_cancel(c->approve_pending->errand);
	pending_free(c->approve_pending);
	c->approve_pending = NULL;
}

static void decide_request(struct connection *c, struct decide_request *request,
			   unsigned int tries);

static void on_retry(evutil_socket_t fd, short what, void *context)
{
	TURN("approval");
	struct approve_pending *p = context;
	_cleanup_(decide_request_release) struct decide_request request = p->request;
	struct connection *c = p->connection;
	unsigned int tries = p->tries;

	(void)fd;
	(void)what;
	p->request = (struct decide_request){};
	c->approve_pending = NULL;
	pending_free(p);
	decide_request(c, &request, tries);
}

/* The proposal is compiled and compared meanwhile. */
static int try_again(struct connection *c, struct decide_request *request, unsigned int tries)
{
	const struct timeval after = {.tv_usec = RETRY_MSEC * 1000};
	struct approve_pending *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->connection = c;
	p->tries = tries + 1;
	p->retry = evtimer_new(c->daemon->base, on_retry, p);
	if (!p->retry || evtimer_add(p->retry, &after) < 0) {
		pending_free(p);
		return -ENOMEM;
	}
	p->request = *request;
	*request = (struct decide_request){};
	c->approve_pending = p;
	return 0;
}

/*
 * A call's question has another digest once another question is approved. 1: the request is put
 * off; 0: it has the new digest now; or why there is none.
 */
static int follow_question(struct connection *c, struct decide_request *request, unsigned int tries)
{
	char digest[SHA256_TEXT_SIZE];
	int r = request->digest[0] ? asking_find_renewed(c->daemon, request->digest, digest)
				   : -ENOENT;

	if (r == -EAGAIN)
		return tries < RETRIES_MAX && try_again(c, request, tries) == 0 ? 1 : r;
	if (r == 0)
		memcpy(request->digest, digest, sizeof(digest));
	return r;
}

static void decide_request(struct connection *c, struct decide_request *request, unsigned int tries)
{
	unsigned char identity[SHA256_SIZE];
	_cleanup_(freep) char *text = NULL;
	struct failure failure = {};
	int r = find_subject(c, request, identity, &text, &failure), followed;

	if (r < 0) {
		followed = follow_question(c, request, tries);
		if (followed == 1)
			return;
		if (followed == 0)
			r = find_subject(c, request, identity, &text, &failure);
	}
	if (r < 0)
		return connection_refuse(c, r, text && *text ? text : failure.text);
	/* Without an errand, with what is there. */
	if (request->decision != AUDIT_APPROVAL_GRANTED ||
	    approvals_know_rules(c->daemon->approvals, identity) ||
	    start_pending(c, request, identity, &failure) < 0)
		decide(c, request, identity);
}

void approve_decide(struct connection *c, json_t *message)
{
	_cleanup_(decide_request_release) struct decide_request request = {};
	struct failure failure = {};
	int r;

	if (approve_not_required(c) < 0)
		return;
	r = decide_request_parse(message, &request, &failure);
	if (r < 0)
		return connection_refuse(c, r, failure.text);
	decide_request(c, &request, 0);
}

static bool lives(const void *context, const char *execution)
{
	return execution_find((struct daemon *)context, execution);
}

void approve_list(struct connection *c, json_t *message)
{
	struct failure failure = {};
	uint32_t from;
	size_t next;
	json_t *list;
	int r;

	if (approve_not_required(c) < 0)
		return;
	r = approvals_request_parse(message, &from, &failure);
	if (r < 0)
		return connection_refuse(c, r, failure.text);
	if (from == 0) {
		approvals_forget_overdue(c->daemon->approvals, clock_nsec(CLOCK_REALTIME));
		approvals_forget_ended(c->daemon->approvals, lives, c->daemon);
	}
	list = approvals_list(c->daemon->approvals, from, PROTOCOL_MAX_PACKET - 256, &next);
	connection_answer(c,
			  json_pack("{s:b,s:o,s:o}", "ok", 1, "approvals", list, "next",
				    next ? json_integer((json_int_t)next) : json_null()),
			  NULL, 0);
}
