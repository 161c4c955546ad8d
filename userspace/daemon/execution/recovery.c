/* SPDX-License-Identifier: Apache-2.0 */
/* What a daemon finds of one that died: executions whose owner's connection died with it. */
#include "daemon/execution/recovery.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "base/hex.h"
#include "daemon/execution/apply.h"
#include "daemon/execution/deadline.h"
#include "daemon/execution/ending.h"
#include "daemon/execution/events.h"
#include "daemon/execution/leftovers.h"
#include "daemon/execution/recovery_work.h"
#include "daemon/execution/resume.h"
#include "daemon/execution/state.h"
#include "daemon/host/tmpdir.h"

/* --- executions --------------------------------------------------------------------------- */

/*
 * The policy that it runs under, for what it decides and for the names of rules in records. Its
 * digest and its names are in the state file; all else is to be read (recovery_work.h).
 */
static int recovered_policy(struct execution *e, struct state *state)
{
	struct compiled_policy *policy;

	e->policy = policies_resumed(e->daemon->policies, e->view->policy, state->policy_digest,
				     state->policy_name, state->policy_file);
	if (e->policy)
		return 0;
	policy = calloc(1, sizeof(*policy));
	if (!policy)
		return -ENOMEM;
	memcpy(policy->digest, state->policy_digest, sizeof(policy->digest));
	hex_encode(policy->digest, sizeof(policy->digest), policy->digest_text);
	policy->name = TAKE_PTR(state->policy_name);
	policy->file = TAKE_PTR(state->policy_file);
	e->recovered_policy = policy;
	return recovery_work_policy(e, state->request.policy, state->request.execution.observe,
				    state->log);
}

/* No state file: somebody removed it. The slot alone names it. */
static int fill_unknown(struct execution *e)
{
	struct compiled_policy *policy = calloc(1, sizeof(*policy));

	e->recovered_policy = policy;
	e->started = e->view->state == CORDON_EXECUTION_LIVE;
	e->record.executor = strdup("unknown");
	e->record.workdir = strdup("/");
	e->record.program = strdup("unknown");
	if (!policy || !e->record.executor || !e->record.workdir || !e->record.program)
		return -ENOMEM;
	policy->name = strdup("unknown");
	policy->file = strdup("unknown");
	return policy->name && policy->file ? 0 : -ENOMEM;
}

/*
 * The daemon died while it put the execution under another policy: the change was on record before
 * the swap. Which of the two was in force when it died, the kernel says. False: the change that is
 * on record was not made.
 */
static bool settle_change(struct execution *e, struct state *state)
{
	unsigned char digest[32];

	if (!state->changing)
		return true;
	if (enforcement_policy_digest(e->daemon->enforcement, e->view->policy, digest) == 0 &&
	    memcmp(digest, state->changing_digest, sizeof(digest)) == 0) {
		free(state->request.policy);
		json_object_set_new(state->asked, "policy", json_string(state->changing_asked));
		free(state->policy_name);
		free(state->policy_file);
		state->request.policy = TAKE_PTR(state->changing_asked);
		state->policy_name = TAKE_PTR(state->changing_name);
		state->policy_file = TAKE_PTR(state->changing_file);
		memcpy(state->policy_digest, digest, sizeof(digest));
		return true;
	}
	return false;
}

static const struct compiled_policy *policy_of(const struct execution *e)
{
	return e->policy ? e->policy->policy : e->recovered_policy;
}

/* How its command ended was told, and its end not recorded. */
static void take_told(struct execution *e, const struct state *state)
{
	if (!state->told)
		return;
	e->ending.told = e->ending.known = true;
	e->end.have_status = true;
	e->end.status = state->told_status;
	e->end.have_cpu = true;
	e->end.user_nsec = state->told_user_nsec;
	e->end.system_nsec = state->told_system_nsec;
}

static int fill_known(struct execution *e, struct state *state)
{
	struct failure failure = {};
	int r;

	e->change_unmade = !settle_change(e, state);
	r = recovered_policy(e, state);
	if (r < 0)
		return r;
	e->record = state->request.execution;
	state->request.execution = (struct audit_execution){};
	e->started = e->written = state->started;
	e->start = state->start;
	e->request = json_incref(state->asked);
	e->policy_name = TAKE_PTR(state->request.policy);
	e->owner.uid = state->client_uid;
	e->owner.member = e->owner.uid != 0;
	e->leader = state->leader;
	e->adoption.in_order = state->in_order;
	memcpy(e->unwritten, state->unwritten, sizeof(e->unwritten));
	take_told(e, state);
	r = logs_get_later(e->daemon->logs, state->log, &e->log, &failure);
	if (r < 0)
		daemon_say(e->daemon, "execution %s: %s; its end goes to %s", e->id, failure.text,
			   logs_directory(e->daemon->log));
	return 0;
}

/* Beside the record of the change, once that log is read. */
void recovery_record_change(struct execution *e)
{
	const struct compiled_policy *policy = policy_of(e);

	if (e->change_unmade)
		apply_record_unchanged(e, policy->name, policy->digest_text);
	e->change_unmade = false;
}

/* The deadline, or the command's own end, may have been what the earlier daemon was about. */
enum audit_end_cause recovery_cause(const struct execution *e)
{
	if (e->ending.known)
		return WIFSIGNALED(e->end.status) ? AUDIT_END_SIGNALED : AUDIT_END_EXITED;
	return e->started && deadline_is_over(e) ? deadline_cause(e) : AUDIT_END_RECOVERED;
}

static int adopt_slot(struct daemon *daemon, uint32_t slot, const struct cordon_execution *view,
		      struct execution **ret_execution)
{
	struct execution *e = execution_recovered(daemon, slot, view);
	struct state state = {};
	int r;

	if (!e)
		return -ENOMEM;
	if (state_load(daemon->state_fd, e->id, &state, NULL) == 0)
		r = fill_known(e, &state);
	else
		r = fill_unknown(e);
	state_release(&state);
	if (r == 0 && !e->log)
		e->log = logs_share(daemon->log);
	if (r == 0)
		r = recovery_work_recall(e);
	if (r < 0) {
		execution_free(e);
		return r;
	}
	memcpy(e->record.id, view->id, sizeof(e->record.id));
	e->record.policy = policy_of(e);
	e->adopted = view->executor != 0;
	/* It runs, and is not to be looked at as if it were held: adopted_scan(). */
	e->adoption.begun = e->adopted && e->adoption.in_order;
	*ret_execution = e;
	return 0;
}

/*
 * What an executor started has no owner that comes back: it is watched once the executors are
 * known. Of one that has no start in its state file, its log says whether it began. All others are
 * watched now, or ended: those whose owner is alive stay a little longer, for it to tell how they
 * ended once it can connect.
 */
static void take_up(struct execution *e)
{
	if (e->adopted || (!e->started && e->view->state == CORDON_EXECUTION_LIVE))
		return;
	if (resume(e) < 0)
		ending_begin(e, recovery_cause(e));
}

static bool stands_ready(const struct cordon_execution *view)
{
	return view->executor && !view->adopted;
}

static bool has_state(const struct daemon *daemon, const struct cordon_execution *view)
{
	char id[UUID_TEXT_SIZE], name[UUID_TEXT_SIZE + 8];

	uuid_format(view->id, id);
	snprintf(name, sizeof(name), "%s.json", id);
	return faccessat(daemon->state_fd, name, F_OK, 0) == 0;
}

/*
 * The daemon died before it could write down what it had made for an executor's child: it is about
 * to be made again. No more than a slice of it: who fills it keeps his own process from going on.
 */
static void remake_directory(const struct cordon_execution *view)
{
	char id[UUID_TEXT_SIZE], name[sizeof("cordon-") + UUID_TEXT_SIZE];

	uuid_format(view->id, id);
	snprintf(name, sizeof(name), "cordon-%s", id);
	(void)tmpdir_remove(DAEMON_TMP_PARENT, name, LEFTOVERS_SLICE);
}

static int adopt_slots(struct daemon *daemon, struct recovery_counts *counts)
{
	for (uint32_t slot = 0; slot < CORDON_MAX_EXECUTIONS; slot++) {
		const struct cordon_execution *view =
			enforcement_execution(daemon->enforcement, slot);
		struct execution *e;
		int r;

		if (view->state == CORDON_EXECUTION_FREE || stands_ready(view))
			continue;
		/* Its start is not on record yet: it is looked at as a new one. */
		if (view->executor && !has_state(daemon, view)) {
			remake_directory(view);
			continue;
		}
		r = adopt_slot(daemon, slot, view, &e);
		if (r < 0)
			return r;
		counts->executions++;
	}
	return 0;
}

/* What is missing then of what there was is a gap. */
static void note_sequences(struct daemon *daemon)
{
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++) {
		struct execution *e = daemon->by_slot[i];

		if (!e)
			continue;
		e->found_sequence = e->view->sequence;
		e->settles = true;
	}
}

static void take_all_up(struct daemon *daemon)
{
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i])
			take_up(daemon->by_slot[i]);
}

/* --- what is left without an execution ---------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
	return memcmp(a, b, UUID_TEXT_SIZE);
}

/* What is left, and the executions that it may belong to. */
struct found {
	struct daemon *daemon;
	struct recovery_counts *counts;
	char (*live)[UUID_TEXT_SIZE]; /* identities, in order */
	size_t live_count;
};

static void found_release(struct found *found)
{
	free(found->live);
}

/* For looking each of what thousands of them have left up among as many. */
static int list_live(struct found *found)
{
	struct daemon *daemon = found->daemon;

	found->live = calloc(ARRAY_SIZE(daemon->by_slot), sizeof(*found->live));
	if (!found->live)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i])
			memcpy(found->live[found->live_count++], daemon->by_slot[i]->id,
			       UUID_TEXT_SIZE);
	qsort(found->live, found->live_count, sizeof(*found->live), compare_ids);
	return 0;
}

static bool is_live(const struct found *found, const char *name)
{
	char id[UUID_TEXT_SIZE] = "";

	if (strlen(name) != UUID_TEXT_SIZE - 1)
		return false;
	memcpy(id, name, UUID_TEXT_SIZE);
	return bsearch(id, found->live, found->live_count, sizeof(*found->live), compare_ids);
}

static bool is_execution_id(const char *name)
{
	unsigned char id[16];

	return uuid_parse(name, id) == 0;
}

void recovery_note_failure(struct daemon *daemon, const char *what, const char *name, int r)
{
	struct recovery_counts *counts = recovery_work_counts(daemon);

	if (counts)
		counts->failures++;
	daemon_say(daemon, "leftover %s %s cannot be removed: %s", what, name, strerror(-r));
}

/* Its last task may be dying. */
static int remove_cgroup(const char *name, void *context)
{
	struct found *found = context;
	struct cgroup_tree *tree = &found->daemon->cgroups;
	_cleanup_(closep) int fd = -1;
	int r;

	if (!is_execution_id(name) || is_live(found, name))
		return 0;
	fd = openat(tree->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		(void)cgroup_kill(fd);
	r = cgroup_remove(tree, name);
	if (r == -EBUSY)
		r = recovery_work_cgroup(found->daemon, name);
	else if (r == 0)
		found->counts->cgroups++;
	if (r < 0)
		recovery_note_failure(found->daemon, "cgroup", name, r);
	return 0;
}

/*
 * Its slot went with the enforcement, as by `cordon disable --force` without a daemon: the file is
 * all that is left to tell its end from.
 */
static int remove_state(const char *id, void *context)
{
	struct found *found = context;
	struct daemon *daemon = found->daemon;
	char path[sizeof(DAEMON_TMP_PARENT "/cordon-") + UUID_TEXT_SIZE];
	struct state state = {};
	int r;

	if (is_live(found, id))
		return 0;
	found->counts->states++;
	snprintf(path, sizeof(path), DAEMON_TMP_PARENT "/cordon-%s", id);
	found->counts->directories += faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	if (state_load(daemon->state_fd, id, &state, NULL) < 0 || !state.started)
		r = leftovers_add(daemon, id);
	else
		r = recovery_work_lost(daemon, id, &state);
	state_release(&state);
	return r;
}

int recovery_run(struct daemon *daemon, struct failure *failure)
{
	_cleanup_(found_release) struct found found = {
		.daemon = daemon,
		.counts = recovery_work_counts(daemon),
	};
	int r = found.counts ? 0 : -ENOMEM;

	if (r == 0 && daemon->origin != ENFORCEMENT_LOADED) {
		r = adopt_slots(daemon, found.counts);
		if (r == 0) {
			/* Events of before the crash belong to those executions. */
			note_sequences(daemon);
			events_drain(daemon, EVENTS_ALL);
			take_all_up(daemon);
		}
	}
	if (r < 0)
		return failure_set(failure, r, "cannot take over what an earlier daemon left: %m");
	r = list_live(&found);
	if (r < 0)
		return failure_set(failure, r, "%m");
	(void)cgroup_for_each(&daemon->cgroups, remove_cgroup, &found);
	r = state_for_each(daemon->state_fd, remove_state, &found);
	if (r == 0)
		r = leftovers_start(daemon);
	if (r < 0)
		return failure_set(failure, r, "cannot look after what an earlier daemon left: %m");
	policies_remove_stale(daemon->policies);
	recovery_work_begin(daemon, daemon->origin != ENFORCEMENT_LOADED || found.counts->cgroups ||
					    found.counts->directories || found.counts->states);
	return 0;
}
