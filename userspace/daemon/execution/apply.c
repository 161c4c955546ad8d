/* SPDX-License-Identifier: Apache-2.0 */
/* Puts running executions under another policy: all that were asked for, or none. */
#include "daemon/execution/apply.h"

#include <string.h>

#include "base/clock.h"
#include "daemon/execution/approval_check.h"
#include "daemon/execution/asking.h"
#include "daemon/execution/events.h"
#include "daemon/execution/execution.h"
#include "daemon/host/process.h"
#include "daemon/execution/state.h"
#include "policy/ask/widening.h"
#include "policy/core/vector.h"

/* Many executions, few policies in force: each of these is compared with the new one once. */
struct comparison {
	const struct compiled_policy *before, *after;
	char **wider;
};

/* What is being done, to one execution after the other. */
enum phase {
	PHASE_ANNOUNCE,	 /* on record, and in its state file, before it is made */
	PHASE_NOTE,	 /* it is made for all, and in each state file */
	PHASE_TAKE_BACK, /* none was: on record, and in the state files of those announced */
};

struct apply {
	struct daemon *daemon;
	const struct apply_request *request;
	/* the new policy: as it is, and for executions that were started to be observed */
	const struct policy_use *uses[2];
	/* slots: between two turns an execution may end, and another be there */
	uint32_t *targets;
	size_t count, capacity, unchanged;
	struct comparison *comparisons;
	size_t comparison_count;
	struct audit_policy_change change;
	enum phase phase;
	size_t next; /* of the targets, in this phase */
	int result;  /* 0, or why it is taken back */
	struct failure failure;
};

void apply_result_release(struct apply_result *result)
{
	free(result->name);
	widening_free(result->wider);
}

/* --- which ones, and to what -------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool is_wanted(const struct execution *e, const struct apply_request *request)
{
	if (!e || !e->policy || e->state >= EXECUTION_ENDING)
		return false;
	if (request->execution[0])
		return strcmp(e->id, request->execution) == 0;
	if (request->session)
		return same_text(e->record.session, request->session);
	return same_text(e->policy->policy->name, request->all_of) ||
	       same_text(e->policy_name, request->all_of);
}

/* One that was asked to only observe goes on observing. */
static bool observes(const struct execution *e)
{
	return json_is_true(json_object_get(e->request, "observe"));
}

void apply_forms(const struct daemon *daemon, const struct apply_request *request,
		 bool ret_forms[2])
{
	ret_forms[0] = ret_forms[1] = false;
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (is_wanted(daemon->by_slot[i], request))
			ret_forms[observes(daemon->by_slot[i])] = true;
}

static const struct policy_use *use_for(const struct apply *a, const struct execution *e)
{
	return a->uses[observes(e)];
}

static int get_use(struct apply *a, bool observe, char **ret_message, struct failure *failure)
{
	if (a->uses[observe])
		return 0;
	return policies_get(a->daemon->policies, a->request->policy, observe, &a->uses[observe],
			    ret_message, failure);
}

/* It is announced, and the change not made yet, or made and not in its state file yet. */
static bool is_announced(const struct apply *a, const struct execution *e)
{
	return e && e->changing && use_for(a, e) && e->changing == use_for(a, e)->policy;
}

void apply_free(struct apply *a)
{
	for (size_t i = 0; i < a->count; i++)
		if (is_announced(a, a->daemon->by_slot[a->targets[i]]))
			a->daemon->by_slot[a->targets[i]]->changing = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(a->uses); i++)
		if (a->uses[i])
			policies_put(a->daemon->policies, a->uses[i]);
	for (size_t i = 0; i < a->comparison_count; i++)
		widening_free(a->comparisons[i].wider);
	free(a->comparisons);
	free(a->targets);
	free(a);
}

static int add_target(struct apply *a, const struct execution *e, struct failure *failure)
{
	if (vector_reserve(&a->targets, &a->capacity, a->count + 1) < 0)
		return failure_set(failure, ENOMEM, "%m");
	a->targets[a->count++] = e->slot;
	return 0;
}

/* Those that are not announced yet. */
static int collect(struct apply *a, char **ret_message, struct failure *failure)
{
	a->unchanged = 0;
	for (size_t i = 0; i < ARRAY_SIZE(a->daemon->by_slot); i++) {
		struct execution *e = a->daemon->by_slot[i];
		int r;

		if (!is_wanted(e, a->request))
			continue;
		r = get_use(a, observes(e), ret_message, failure);
		if (r < 0)
			return r;
		if (is_announced(a, e))
			continue;
		if (e->changing)
			return failure_set(failure, EBUSY,
					   "execution %s is being put under %s: try again", e->id,
					   e->changing_name);
		if (use_for(a, e) == e->policy) {
			a->unchanged++;
			continue;
		}
		r = add_target(a, e, failure);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- may it? ------------------------------------------------------------------------------ */

/* Do its rules name variable `n`? */
static bool names_variable(const struct compiled_policy *policy, unsigned int n)
{
	struct cordon_policy_header header;

	memcpy(&header, policy->tables, sizeof(header));
	return header.anchors_used & 1u << n;
}

/*
 * The kernel knows variables by number, and their directories were bound when the execution began.
 * One that was not bound then, and that the policy in force names as well, stays as it is.
 */
static int check_variables(const struct apply *a, const struct execution *e,
			   struct failure *failure)
{
	const struct compiled_policy *before = e->policy->policy, *after = use_for(a, e)->policy;

	for (unsigned int n = 0; n < CORDON_MAX_ANCHORS; n++) {
		const char *name = after->anchor_names[n];

		if (!names_variable(after, n))
			continue;
		if (!same_text(before->anchor_names[n], name))
			return failure_set(
				failure, EINVAL,
				"policy %s has ${%s} where %s, the policy of execution %s, has %s%s%s: list "
				"the variables as that one does",
				after->name, name, before->name, e->id,
				before->anchor_names[n] ? "${" : "nothing",
				before->anchor_names[n] ? before->anchor_names[n] : "",
				before->anchor_names[n] ? "}" : "");
		if (e->view->anchors[n].inode == 0 && !names_variable(before, n))
			return failure_set(
				failure, EINVAL,
				"policy %s names ${%s}, for which execution %s was given no "
				"directory when it was started",
				after->name, name, e->id);
	}
	return 0;
}

static int describe_wider(const struct compiled_policy *before, const struct compiled_policy *after,
			  char ***ret_wider)
{
	int r = widening_describe(before, after, ret_wider);
	char **lines;

	if (r != -E2BIG)
		return r;
	/* What cannot be shown to be narrower counts as wider. */
	lines = calloc(2, sizeof(*lines));
	if (!lines || asprintf(&lines[0],
			       "%s and %s cannot be compared: their rules combine in too many ways",
			       before->name, after->name) < 0) {
		free(lines);
		return -ENOMEM;
	}
	*ret_wider = lines;
	return 0;
}

static const struct comparison *find_comparison(const struct apply *a, const struct execution *e)
{
	for (size_t i = 0; i < a->comparison_count; i++)
		if (a->comparisons[i].before == e->policy->policy &&
		    a->comparisons[i].after == use_for(a, e)->policy)
			return &a->comparisons[i];
	return NULL;
}

static int compare(struct apply *a, const struct execution *e, struct failure *failure)
{
	struct comparison *larger,
		c = {.before = e->policy->policy, .after = use_for(a, e)->policy};
	int r;

	if (find_comparison(a, e))
		return 0;
	r = describe_wider(c.before, c.after, &c.wider);
	if (r < 0)
		return failure_set(failure, r, "cannot compare policy %s with %s: %m",
				   c.before->name, c.after->name);
	larger = reallocarray(a->comparisons, a->comparison_count + 1, sizeof(*larger));
	if (!larger) {
		widening_free(c.wider);
		return failure_set(failure, ENOMEM, "%m");
	}
	a->comparisons = larger;
	a->comparisons[a->comparison_count++] = c;
	return 0;
}

static const struct comparison *first_wider(const struct apply *a)
{
	for (size_t i = 0; i < a->comparison_count; i++)
		if (a->comparisons[i].wider[0])
			return &a->comparisons[i];
	return NULL;
}

static int refuse_wider(const struct comparison *c, char **ret_message, struct failure *failure)
{
	size_t size;
	FILE *out = open_memstream(ret_message, &size);

	if (!out)
		return failure_set(failure, ENOMEM, "%m");
	fprintf(out, "%s allows what %s, which is in force, does not:", c->after->name,
		c->before->name);
	for (char **line = c->wider; *line; line++)
		fprintf(out, "\n  %s", *line);
	fputs("\nnothing was changed; --allow-wider REASON applies it, and records the reason",
	      out);
	if (fclose(out) != 0) {
		free(TAKE_PTR(*ret_message));
		return failure_set(failure, ENOMEM, "%m");
	}
	return failure_set(failure, EPERM, "%s allows more than %s", c->after->name,
			   c->before->name);
}

static int check(struct apply *a, char **ret_message, struct failure *failure)
{
	const struct comparison *wider;

	for (size_t i = a->next; i < a->count; i++) {
		const struct execution *e = a->daemon->by_slot[a->targets[i]];
		int r = check_variables(a, e, failure);

		if (r == 0)
			r = compare(a, e, failure);
		if (r == 0)
			r = logs_writable(e->log, failure);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(a->uses); i++) {
		int r = a->uses[i] ? approval_check(a->daemon, a->uses[i]->policy, a->request->use,
						    a->change.uid, ret_message, failure)
				   : 0;

		if (r < 0)
			return r;
	}
	wider = first_wider(a);
	if (wider && !a->request->reason)
		return refuse_wider(wider, ret_message, failure);
	return 0;
}

/* --- doing it ----------------------------------------------------------------------------- */

/*
 * From here on the next daemon knows that a change was begun; the kernel tells it whether it was
 * made.
 */
static int announce(const struct apply *a, struct execution *e, struct failure *failure)
{
	struct audit_policy_change change = a->change;
	int r;

	e->changing = use_for(a, e)->policy;
	e->changing_name = a->request->policy;
	r = state_save(a->daemon->state_fd, e, failure);
	/* Beside the log, where its digest in records is looked up. */
	if (r == 0)
		r = logs_keep_policy(e->log, e->changing, failure);
	if (r < 0)
		return r;
	change.policy = e->changing;
	change.wider = find_comparison(a, e)->wider;
	change.reason = change.wider[0] ? a->request->reason : NULL;
	r = logs_append(e->log, audit_record_policy_change(&e->record, &change,
							   clock_nsec(CLOCK_REALTIME)));
	if (r >= 0)
		r = logs_flush(e->log);
	if (r < 0)
		return failure_set(failure, r, "the change cannot be recorded in %s: %m",
				   logs_directory(e->log));
	return 0;
}

void apply_record_unchanged(struct execution *e, const char *policy, const char *digest)
{
	json_t *details =
		json_pack("{s:s,s:s,s:s}", "execution", e->id, "policy", policy, "digest", digest);

	(void)logs_append(e->log, audit_record_agent("policy-unchanged", details,
						     clock_nsec(CLOCK_REALTIME)));
	json_decref(details);
	daemon_flush_soon(e->daemon);
}

void apply_drop_change(struct execution *e)
{
	if (e->changing && e->changing != e->policy->policy)
		apply_record_unchanged(e, e->policy->policy->name, e->policy->policy->digest_text);
	e->changing = NULL;
	e->changing_name = NULL;
}

static void take_back(const struct apply *a, struct execution *e)
{
	apply_drop_change(e);
	(void)state_save(a->daemon->state_fd, e, NULL);
}

/* Nothing here can fail: the swap is one store. */
static void swap(const struct apply *a, struct execution *e)
{
	const struct policy_use *use = use_for(a, e);

	policies_share(a->daemon->policies, use);
	enforcement_set_policy(a->daemon->enforcement, e->slot, use->ref);
	e->previous = e->policy;
	e->policy = use;
	e->record.policy = use->policy;
	e->record.observe = use->policy->observe;
}

static void note_changed(const struct apply *a, struct execution *e)
{
	char *name = strdup(a->request->policy);

	e->changing = NULL;
	e->changing_name = NULL;
	json_object_set_new(e->request, "policy", json_string(a->request->policy));
	if (name) {
		free(e->policy_name);
		e->policy_name = name;
	}
	if (state_save(a->daemon->state_fd, e, NULL) < 0)
		daemon_say(a->daemon,
			   "execution %s: its state file still tells of its earlier policy", e->id);
}

/* One that was put under another policy a moment ago: an event names one of two. */
static bool any_has_previous(const struct apply *a)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct execution *e = a->daemon->by_slot[a->targets[i]];

		if (is_announced(a, e) && e->previous)
			return true;
	}
	return false;
}

/* From here on the targets are those that were changed. */
static void swap_all(struct apply *a)
{
	size_t changed = 0;
	int r;

	if (any_has_previous(a))
		events_drain(a->daemon, EVENTS_ALL);
	for (size_t i = 0; i < a->count; i++) {
		struct execution *e = a->daemon->by_slot[a->targets[i]];

		/* A slot is named twice where another execution has come into it. */
		if (!is_announced(a, e) || e->policy == use_for(a, e))
			continue;
		swap(a, e);
		if (a->request->use)
			asking_policy_amended(e);
		else
			asking_policy_changed(e);
		a->targets[changed++] = e->slot;
	}
	a->count = changed;
	if (changed == 0)
		return;
	/* What was decided by the old ones is in the rings now; when it is read they can go. */
	r = enforcement_policy_settle(a->daemon->enforcement,
				      a->daemon->by_slot[a->targets[0]]->policy->ref);
	if (r < 0)
		daemon_say(a->daemon, "waiting for verdicts under the old policy: %s",
			   strerror(-r));
	for (size_t i = 0; i < changed; i++)
		events_await_previous(a->daemon->by_slot[a->targets[i]]);
	daemon_flush_soon(a->daemon);
}

static int copy_lines(char *const *lines, char ***ret_copy)
{
	size_t count = 0;
	char **copy;

	while (lines && lines[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = strdup(lines[i]);
		if (!copy[i]) {
			widening_free(copy);
			return -ENOMEM;
		}
	}
	*ret_copy = copy;
	return copy ? 0 : -ENOMEM;
}

static int fill_result(const struct apply *a, struct apply_result *ret_result)
{
	const struct policy_use *use = a->uses[0] ? a->uses[0] : a->uses[1];
	const struct comparison *wider = first_wider(a);
	struct apply_result result = {.changed = a->count, .unchanged = a->unchanged};

	memcpy(result.digest, use->policy->digest_text, sizeof(result.digest));
	if (copy_lines(wider ? wider->wider : NULL, &result.wider) < 0)
		return -ENOMEM;
	result.name = strdup(use->policy->name);
	if (!result.name) {
		apply_result_release(&result);
		return -ENOMEM;
	}
	*ret_result = result;
	return 0;
}

int apply_begin(struct daemon *daemon, const struct apply_request *request,
		const struct ucred *peer, struct apply **ret_apply, char **ret_message,
		struct failure *failure)
{
	_cleanup_(apply_freep) struct apply *a = calloc(1, sizeof(*a));
	int r;

	*ret_message = NULL;
	if (!a)
		return failure_set(failure, ENOMEM, "%m");
	a->daemon = daemon;
	a->request = request;
	a->change.pid = (uint32_t)peer->pid;
	a->change.uid = peer->uid;
	a->change.have_login = process_login(peer->pid, &a->change.login_uid) == 0;
	r = collect(a, ret_message, failure);
	if (r == 0 && a->count + a->unchanged == 0)
		r = failure_set(failure, ESRCH,
				"no such execution is live; `cordon ps` shows them");
	if (r == 0)
		r = check(a, ret_message, failure);
	/* The new policy may deny inherited sockets: attach the programs that check. */
	if (r == 0)
		r = enforcement_watch_sockets(failure);
	if (r < 0)
		return failure_set(failure, r, "%m");
	*ret_apply = TAKE_PTR(a);
	return 0;
}

static void go_over_to(struct apply *a, enum phase phase)
{
	a->phase = phase;
	a->next = 0;
}

/* Those that began meanwhile come next; where there is none, the change is made. */
static int announced_all(struct apply *a, struct failure *failure)
{
	_cleanup_(freep) char *message = NULL;
	int r = collect(a, &message, failure);

	if (r == 0 && a->next < a->count)
		r = check(a, &message, failure);
	if (r < 0)
		return r;
	if (a->next < a->count)
		return 0;
	swap_all(a);
	go_over_to(a, PHASE_NOTE);
	return 0;
}

static int announce_next(struct apply *a, struct failure *failure)
{
	struct execution *e = a->daemon->by_slot[a->targets[a->next++]];

	/* Or it has ended, with whatever came in its place. */
	if (!is_wanted(e, a->request) || e->changing || !use_for(a, e) ||
	    use_for(a, e) == e->policy)
		return 0;
	return announce(a, e, failure);
}

/* One more of the targets. */
static void do_next(struct apply *a)
{
	struct execution *e;

	if (a->phase == PHASE_ANNOUNCE) {
		a->result = announce_next(a, &a->failure);
		if (a->result == 0 && a->next == a->count)
			a->result = announced_all(a, &a->failure);
		if (a->result < 0) {
			failure_set(&a->failure, a->result, "%m");
			go_over_to(a, PHASE_TAKE_BACK);
		}
		return;
	}
	e = a->daemon->by_slot[a->targets[a->next++]];
	if (!is_announced(a, e))
		return;
	if (a->phase == PHASE_NOTE)
		note_changed(a, e);
	else
		take_back(a, e);
}

int apply_go_on(struct apply *a, size_t targets, struct apply_result *ret_result,
		struct failure *failure)
{
	for (size_t done = 0; done < targets && a->next < a->count; done++)
		do_next(a);
	if (a->next < a->count)
		return 1;
	*failure = a->failure;
	return a->result < 0 ? a->result : fill_result(a, ret_result);
}

int apply_policy(struct daemon *daemon, const struct apply_request *request,
		 const struct ucred *peer, struct apply_result *ret_result, char **ret_message,
		 struct failure *failure)
{
	_cleanup_(apply_freep) struct apply *a = NULL;
	int r = apply_begin(daemon, request, peer, &a, ret_message, failure);

	if (r < 0)
		return r;
	do
		r = apply_go_on(a, APPLY_AT_A_TIME, ret_result, failure);
	while (r > 0);
	return r;
}
