/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a proposal of what was refused, and puts it into the inbox. */
#include "daemon/execution/proposal.h"

#include <string.h>

#include "base/clock.h"
#include "base/parcel.h"
#include "daemon/policy/approvals.h"
#include "insight/learn/amend.h"
#include "policy/compile/compile.h"
#include "policy/ask/diff.h"
#include "policy/ask/widening.h"
#include "policy/core/compiled_parcel.h"

/* A quarter of what a command may take: it is the daemon's memory. */
#define TUPLES_MAX (POLICY_TUPLES_MAX / 4)

char *proposal_use(enum propose_scope scope, const char *id, const char *session, uid_t uid)
{
	json_t *use;
	char *text;

	if (scope == PROPOSE_EXECUTION)
		use = json_pack("{s:s}", "execution", id);
	else if (scope == PROPOSE_SESSION)
		use = json_pack("{s:o,s:I}", "session", execution_text(session), "user",
				(json_int_t)uid);
	else
		use = json_pack("{s:s}", "runs", "all");
	text = use ? json_dumps(use, JSON_COMPACT) : NULL;
	json_decref(use);
	return text;
}

/* --- asking ------------------------------------------------------------------------------- */

static int check_scope(const struct refused *refused, enum propose_scope scope,
		       struct failure *failure)
{
	if (scope == PROPOSE_EXECUTION && !refused->live)
		return failure_set(failure, ESRCH,
				   "execution %s has ended: ask for its session (--for session) or "
				   "for its policy (--for policy)",
				   refused->id);
	if (scope == PROPOSE_SESSION && !refused->session)
		return failure_set(
			failure, EINVAL,
			"execution %s belongs to no session: run it with --session, or ask "
			"for its policy (--for policy)",
			refused->id);
	if (json_object_size(refused->rules) == 0)
		return failure_set(
			failure, ENODATA,
			refused->settings
				? "what execution %s was denied is no matter of rules, but of "
				  "settings of its policy: see `cordon why`"
			: refused->denied
				? "rules deny these accesses of execution %s, and no further rule "
				  "allows them: list exceptions (`except`) in its policy, see "
				  "`cordon why`"
				: "execution %s was denied nothing that a rule could allow",
			refused->id);
	return 0;
}

static int check_expiry(uint64_t expires, uint64_t now, struct failure *failure)
{
	if (expires > now && expires - now <= PROPOSAL_DAYS_MAX * 86400 * NSEC_PER_SEC)
		return 0;
	return failure_set(failure, EINVAL, "a proposal ends within %u days", PROPOSAL_DAYS_MAX);
}

static int find_refused(const struct daemon *daemon, const char *id, const struct peer *peer,
			struct refused *ret_refused, struct failure *failure)
{
	int r = refused_find(daemon, id, peer, ret_refused);

	if (r == -ENOTUNIQ)
		return failure_set(failure, r, "several executions have ids that begin with %s",
				   id);
	return r < 0 ? failure_set(
			       failure, r,
			       "no execution %s that was denied something is live, or among the "
			       "last that ended",
			       id)
		     : 0;
}

/* What was refused is known: whom it is for, and as a file. */
static int keep(const struct daemon *daemon, enum propose_scope scope, struct proposal *p,
		struct failure *failure)
{
	_cleanup_(freep) char *text = refused_policy_text(&p->refused);
	int r = check_scope(&p->refused, scope, failure);

	if (r < 0)
		return r;
	p->use = proposal_use(scope, p->refused.id, p->refused.session, p->refused.uid);
	if (!p->use || !text)
		return failure_set(failure, ENOMEM, "%m");
	return approvals_keep_text(daemon->approvals, text, &p->path, failure);
}

static int begin(struct daemon *daemon, const struct propose_request *request,
		 const struct peer *peer, struct proposal *p, struct failure *failure)
{
	int r = check_expiry(request->expires, clock_nsec(CLOCK_REALTIME), failure);

	if (r == 0)
		r = find_refused(daemon, request->execution, peer, &p->refused, failure);
	if (r < 0)
		return r;
	p->expires = request->expires;
	p->uid = peer->ucred.uid;
	return keep(daemon, request->scope, p, failure);
}

int proposal_begin(struct daemon *daemon, const struct propose_request *request,
		   const struct peer *peer, struct proposal *ret_proposal, struct failure *failure)
{
	struct proposal p = {};
	int r = begin(daemon, request, peer, &p, failure);

	if (r < 0)
		proposal_release(daemon, &p);
	else
		*ret_proposal = p;
	return r;
}

static int refused_call(const struct execution *e, const struct cordon_event *event,
			const struct buffer *record, struct refused *ret_refused)
{
	struct reported call = {};
	int r = reported_add(&call, (const void *)event, record, 1);

	if (r >= 0)
		r = refused_of(e, &call, ret_refused);
	reported_release(&call);
	return r;
}

int proposal_of_call(const struct execution *e, const struct cordon_event *event,
		     const struct buffer *record, uint64_t expires, struct proposal *ret_proposal,
		     struct failure *failure)
{
	struct proposal p = {.waits = true, .expires = expires, .uid = e->owner.uid};
	int r = refused_call(e, event, record, &p.refused);

	r = r < 0 ? failure_set(failure, r, "what it was denied: %m")
		  : keep(e->daemon, PROPOSE_EXECUTION, &p, failure);
	if (r < 0)
		proposal_release(e->daemon, &p);
	else
		*ret_proposal = p;
	return r;
}

void proposal_release(struct daemon *daemon, struct proposal *p)
{
	/* Unless it waits by now, or another one has the same. */
	if (p->path)
		approvals_drop_text(daemon->approvals, p->path);
	refused_release(&p->refused);
	free(p->use);
	free(p->path);
	*p = (struct proposal){};
}

static int compile(const struct daemon *daemon, const char *file,
		   struct compiled_policy **ret_policy, struct failure *failure)
{
	int r = policies_compile(daemon->policies, file, false, ret_policy);

	return r < 0 ? failure_set(failure, r, "policy %s cannot be compiled: %m", file) : 0;
}

/* One proposal for all denials, unless a call waits. */
static int amend(const struct daemon *daemon, const struct proposal *p,
		 struct amendment *ret_amendment)
{
	_cleanup_(recording_freep) struct recording *recording = recording_new();
	const struct policy_search search = {.directories = policies_directories(daemon->policies)};
	const struct amend_options options = {.search = &search, .policy = p->refused.file};
	json_t *denial;
	size_t i;
	int r = recording && !p->waits && p->refused.start ? 0 : -ENODATA;

	if (r == 0)
		r = recording_add(recording, p->refused.start);
	json_array_foreach(p->refused.denials, i, denial)
		r = r < 0 ? r : recording_add(recording, denial);
	return r < 0 ? r : amend_make(recording, &options, ret_amendment);
}

/* Compiles the proposal for all denials, or else the file with a rule for each. */
static int compile_asked(const struct daemon *daemon, const struct proposal *p,
			 const struct amendment *amendment, struct compiled_policy **ret_policy,
			 struct failure *failure)
{
	const struct policy_search search = {.directories = policies_directories(daemon->policies)};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(freep) char *path = NULL;
	int r;

	if (!amendment->text)
		return compile(daemon, p->path, ret_policy, failure);
	r = d ? approvals_text_path(daemon->approvals, amendment->text, &path) : -ENOMEM;
	if (r == 0)
		r = policy_compile_text(amendment->text, strlen(amendment->text), path, &search, d,
					ret_policy);
	return r < 0 ? failure_set(failure, r, "cannot compile the proposal: %m") : 0;
}

int proposal_work(const struct daemon *daemon, const struct proposal *p, FILE *to,
		  struct failure *failure)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *base = NULL, *policy = NULL;
	_cleanup_(amendment_release) struct amendment amendment = {};
	char unsettled[32], **wider = NULL;
	size_t count = 0;
	int r = compile(daemon, p->refused.file, &base, failure);

	if (r == 0 && amend(daemon, p, &amendment) < 0)
		amendment_release(&amendment);
	if (r == 0)
		r = compile_asked(daemon, p, &amendment, &policy, failure);
	if (r < 0)
		return r;
	snprintf(unsettled, sizeof(unsettled), "%zu",
		 amendment.text ? amendment.denials - amendment.settled : 0);
	parcel_put_text(to, amendment.text);
	parcel_put_text(to, unsettled);
	r = widening_describe_all(base, policy, TUPLES_MAX, &wider);
	if (r < 0)
		return failure_set(failure, r, "cannot compare it with policy %s: %m", base->name);
	while (wider[count])
		count++;
	compiled_policy_put(to, base);
	compiled_policy_put(to, policy);
	parcel_put_list(to, wider, count);
	widening_free(wider);
	return 0;
}

struct answer {
	struct compiled_policy *base, *policy;
	char *text, *unsettled; /* the file, if it is another one than before */
	char **wider;
};

static void answer_release(struct answer *a)
{
	compiled_policy_free(a->base);
	compiled_policy_free(a->policy);
	free(a->text);
	free(a->unsettled);
	widening_free(a->wider);
}

static int take(const char *data, size_t size, struct answer *a)
{
	struct parcel from = {data, size};
	size_t count;
	int r = parcel_take_text(&from, &a->text);

	if (r == 0)
		r = parcel_take_text(&from, &a->unsettled);
	if (r == 0)
		r = compiled_policy_take(&from, &a->base);
	if (r == 0)
		r = compiled_policy_take(&from, &a->policy);
	if (r == 0)
		r = parcel_take_list(&from, &a->wider, &count);
	return r == 0 && from.left > 0 ? -EPROTO : r;
}

/* The errand's file replaces the file that was kept before. */
static int keep_text(struct daemon *daemon, struct proposal *p, const struct answer *a,
		     struct failure *failure)
{
	char *path;
	int r;

	if (!a->text)
		return 0;
	r = approvals_keep_text(daemon->approvals, a->text, &path, failure);
	if (r < 0)
		return r;
	if (strcmp(path, p->path) != 0)
		approvals_drop_text(daemon->approvals, p->path);
	free(p->path);
	p->path = path;
	p->unsettled = strtoul(a->unsettled ? a->unsettled : "0", NULL, 10);
	return strcmp(path, a->policy->file) == 0
		       ? 0
		       : failure_set(failure, EPROTO, "the proposal has another file: %m");
}

static int put(struct daemon *daemon, struct proposal *p, const char *data, size_t size,
	       json_t **ret_entry, struct failure *failure)
{
	_cleanup_(answer_release) struct answer a = {};
	struct approval_proposal proposal = {.use = p->use, .expires = p->expires, .uid = p->uid};
	int r = take(data, size, &a);

	if (r < 0)
		return failure_set(failure, r, "what was asked for, as it was compiled: %m");
	r = keep_text(daemon, p, &a, failure);
	if (r < 0)
		return r;
	proposal.base = a.base;
	proposal.policy = a.policy;
	proposal.wider = a.wider;
	a.wider = NULL;
	r = approvals_propose(daemon->approvals, &proposal, clock_nsec(CLOCK_REALTIME), ret_entry,
			      failure);
	widening_free(proposal.wider);
	return r;
}

int proposal_put(struct daemon *daemon, struct proposal *p, const char *data, size_t size,
		 json_t **ret_entry, uint64_t *ret_left, struct failure *failure)
{
	int r = put(daemon, p, data, size, ret_entry, failure);

	if (r < 0)
		return r;
	*ret_left = p->refused.settings + p->refused.omitted + p->unsettled;
	daemon_record(daemon, "proposal",
		      json_pack("{s:s,s:O,s:O,s:O,s:I,s:b}", "execution", p->refused.id, "policy",
				json_object_get(*ret_entry, "policy"), "digest",
				json_object_get(*ret_entry, "digest"), "use",
				json_object_get(*ret_entry, "use"), "uid", (json_int_t)p->uid,
				"waits", p->waits));
	return 0;
}
