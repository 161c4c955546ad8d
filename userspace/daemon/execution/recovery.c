/* SPDX-License-Identifier: Apache-2.0 */
/* What a daemon finds of one that died: executions whose owner's connection died with it. */
#include "daemon/execution/recovery.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "audit/storage/policy_apart.h"
#include "audit/storage/recall.h"
#include "base/clock.h"
#include "base/hex.h"
#include "daemon/execution/apply.h"
#include "daemon/execution/deadline.h"
#include "daemon/execution/ending.h"
#include "daemon/execution/events.h"
#include "daemon/execution/leftovers.h"
#include "daemon/execution/resume.h"
#include "daemon/execution/state.h"
#include "daemon/host/tmpdir.h"

#define KILL_TIMEOUT_NSEC (20 * NSEC_PER_SEC)
#define LOOK_MSEC	  5

/* Logs whose ends are kept while it is asked for each execution what they say. */
#define WINDOWS_MAX 4

struct found {
	struct daemon *daemon;
	uint64_t executions, resumed, cgroups, directories, states, failures;
	struct window {
		char *directory;
		struct recall_window *recall;
	} windows[WINDOWS_MAX];
	size_t next_window;
	char (*live)[UUID_TEXT_SIZE]; /* identities, in order */
	size_t live_count;
};

static void found_release(struct found *found)
{
	for (size_t i = 0; i < WINDOWS_MAX; i++) {
		free(found->windows[i].directory);
		recall_window_free(found->windows[i].recall);
	}
	free(found->live);
}

/* --- executions --------------------------------------------------------------------------- */

/*
 * The policy that it runs under, for what it decides and for the names of rules in records:
 * compiled anew if its files still say the same, else what the log keeps, else as much as the state
 * file tells.
 */
static int recovered_policy(struct execution *e, struct state *state)
{
	struct compiled_policy *policy = NULL;
	char digest[65];
	int r;

	e->policy = policies_resumed(e->daemon->policies, e->view->policy, state->policy_digest,
				     state->policy_name, state->policy_file);
	if (e->policy)
		return 0;
	r = policies_compile(e->daemon->policies, state->request.policy,
			     state->request.execution.observe, &policy);
	if (r < 0 || memcmp(policy->digest, state->policy_digest, sizeof(policy->digest)) != 0) {
		if (policy)
			compiled_policy_free(policy);
		policy = NULL;
		hex_encode(state->policy_digest, sizeof(state->policy_digest), digest);
		r = policy_store_get_apart(state->log, digest, &policy, NULL);
	}
	if (r < 0) {
		policy = calloc(1, sizeof(*policy));
		if (!policy)
			return -ENOMEM;
		memcpy(policy->digest, state->policy_digest, sizeof(policy->digest));
		hex_encode(policy->digest, sizeof(policy->digest), policy->digest_text);
	}
	/* Another with the same tables may have been kept first. */
	free(policy->name);
	free(policy->file);
	policy->name = TAKE_PTR(state->policy_name);
	policy->file = TAKE_PTR(state->policy_file);
	e->recovered_policy = policy;
	return 0;
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

static int fill_known(struct execution *e, struct state *state)
{
	bool as_recorded = settle_change(e, state);
	struct failure failure = {};
	int r = recovered_policy(e, state);

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
	r = logs_get(e->daemon->logs, state->log, &e->log, &failure);
	if (r < 0)
		daemon_say(e->daemon, "execution %s: %s; its end goes to %s", e->id, failure.text,
			   logs_directory(e->daemon->log));
	/* Beside the record of the change. */
	else if (!as_recorded)
		apply_record_unchanged(e, policy_of(e)->name, policy_of(e)->digest_text);
	return 0;
}

/* Gaps before the crash are on record: they are not reported again. */
static void no_gap(uint64_t after, uint64_t before, void *context)
{
	(void)after;
	(void)before;
	(void)context;
}

static void note_recorded(uint64_t first, uint64_t last, void *context)
{
	struct execution *e = context;

	sequence_add_range(&e->sequence, first, last, no_gap, NULL);
}

/* What the log in that directory says of one: its end is read once, not for each of thousands. */
static int recall(struct found *found, const char *directory, const char *id, recall_visitor visit,
		  void *context, struct recall *ret_recall)
{
	_cleanup_(recall_window_freep) struct recall_window *read = NULL;
	_cleanup_(freep) char *copy = NULL;
	struct window *window;
	int r;

	for (size_t i = 0; i < WINDOWS_MAX; i++) {
		window = &found->windows[i];
		if (window->directory && strcmp(window->directory, directory) == 0) {
			recall_find(window->recall, id, visit, context, ret_recall);
			return 0;
		}
	}
	copy = strdup(directory);
	r = copy ? recall_read(directory, &read) : -ENOMEM;
	if (r < 0)
		return r;
	window = &found->windows[found->next_window++ % WINDOWS_MAX];
	free(window->directory);
	recall_window_free(window->recall);
	*window = (struct window){TAKE_PTR(copy), TAKE_PTR(read)};
	recall_find(window->recall, id, visit, context, ret_recall);
	return 0;
}

/*
 * A crash comes between any two steps. What the log has of this execution is certain: whether the
 * start is there, without which nothing ran; whether the end is, which is not to be told twice; and
 * which events are, of which those that are missing once the rings are read are a gap.
 */
static void recall_earlier(struct found *of, struct execution *e)
{
	const char *directory = logs_directory(e->log);
	struct recall found;

	e->sequence.anywhere = false;
	if (recall(of, directory, e->id, note_recorded, e, &found) < 0) {
		e->sequence = (struct sequence){.anywhere = true};
		return;
	}
	e->started = e->written = (e->started || found.started) && !found.ended;
	/* Nor does what is still to come of one that has ended begin it a second time. */
	e->adoption.unrecorded = found.ended;
	/* Before it there is a record of each event or a gap; what comes after it makes none. */
	if (found.ended) {
		e->sequence = (struct sequence){.anywhere = true};
		return;
	}
	for (size_t i = 0; found.started && i < ARRAY_SIZE(e->unwritten); i++)
		if (e->unwritten[i] > 0)
			sequence_add(&e->sequence, e->unwritten[i], no_gap, NULL);
	/* What lies before the window is taken to be on record. */
	if (!found.started && e->sequence.count > 0)
		e->sequence.settled = e->sequence.runs[0].first - 1;
	if (!found.started && found.last_sequence == 0)
		e->sequence.anywhere = true;
}

void recovery_recall(struct execution *e)
{
	_cleanup_(found_release) struct found alone = {};

	recall_earlier(&alone, e);
}

static int adopt_slot(struct found *found, uint32_t slot, const struct cordon_execution *view,
		      struct execution **ret_execution)
{
	struct daemon *daemon = found->daemon;
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
		r = logs_get(daemon->logs, logs_directory(daemon->log), &e->log, NULL);
	if (r < 0) {
		execution_free(e);
		return r;
	}
	recall_earlier(found, e);
	memcpy(e->record.id, view->id, sizeof(e->record.id));
	e->record.policy = policy_of(e);
	e->adopted = view->executor != 0;
	/* It runs, and is not to be looked at as if it were held: adopted_scan(). */
	e->adoption.begun = e->adopted && e->adoption.in_order;
	*ret_execution = e;
	return 0;
}

/* Goes on under this daemon; the others are ended. */
static bool goes_on(const struct execution *e)
{
	return e->resumed || e->adopted;
}

/*
 * What an executor started has no owner that comes back. It is watched once the executors are
 * known; its policy stays in force in any case, and may be one that this daemon's other executions
 * run under. So may that of one that is ended.
 */
static bool take_up(struct execution *e)
{
	int r = resume_policy(e);

	return e->adopted || (r == 0 && resume(e) == 0);
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

static int adopt_slots(struct found *found)
{
	struct daemon *daemon = found->daemon;

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
		r = adopt_slot(found, slot, view, &e);
		if (r < 0)
			return r;
		found->executions++;
		found->resumed += take_up(e);
	}
	return 0;
}

static void note_sequences(struct daemon *daemon)
{
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i])
			daemon->by_slot[i]->found_sequence = daemon->by_slot[i]->view->sequence;
}

/* What is missing now of what there was goes on record before the next crash makes it forgotten. */
static void settle_resumed(struct daemon *daemon)
{
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i] && goes_on(daemon->by_slot[i]))
			events_settle(daemon->by_slot[i], daemon->by_slot[i]->found_sequence);
}

static size_t count_alive(const struct daemon *daemon)
{
	size_t alive = 0;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		alive += daemon->by_slot[i] && !goes_on(daemon->by_slot[i]) &&
			 daemon->by_slot[i]->state < EXECUTION_DEAD;
	return alive;
}

/* The deadline may have been what the earlier daemon was about. */
static enum audit_end_cause cause_of(const struct execution *e)
{
	return e->started && deadline_is_over(e) ? deadline_cause(e) : AUDIT_END_RECOVERED;
}

/*
 * Those that cannot go on: the ordinary end, run by the ordinary loop until all are dead. Those
 * whose owner is alive stay a little longer, for it to tell how they ended once it can connect.
 */
static int end_others(struct found *found, struct failure *failure)
{
	struct daemon *daemon = found->daemon;
	uint64_t end = clock_nsec(CLOCK_BOOTTIME) + KILL_TIMEOUT_NSEC;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i] && !goes_on(daemon->by_slot[i]))
			ending_begin(daemon->by_slot[i], cause_of(daemon->by_slot[i]));
	while (count_alive(daemon) > 0) {
		if (clock_nsec(CLOCK_BOOTTIME) > end)
			return failure_set(failure, ETIMEDOUT,
					   "%zu executions of an earlier daemon survive SIGKILL "
					   "(stuck in the kernel?); they stay confined",
					   count_alive(daemon));
		event_base_loop(daemon->base, EVLOOP_ONCE);
	}
	return 0;
}

/* --- what is left without an execution ---------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
	return memcmp(a, b, UUID_TEXT_SIZE);
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

static void note(struct found *found, int r, uint64_t *counter, const char *what, const char *name)
{
	if (r == 0) {
		(*counter)++;
		return;
	}
	found->failures++;
	daemon_say(found->daemon, "leftover %s %s cannot be removed: %s", what, name, strerror(-r));
}

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
	for (int i = 0; r == -EBUSY && i < 200; i++) {
		const struct timespec pause = {.tv_nsec = LOOK_MSEC * (long)NSEC_PER_MSEC};

		(void)nanosleep(&pause, NULL);
		r = cgroup_remove(tree, name);
	}
	note(found, r, &found->cgroups, "cgroup", name);
	return 0;
}

/* What came behind the last event on record, and the counters, nobody can tell any more. */
static void write_lost_end(struct found *of, struct log_use *log, const char *id,
			   struct state *state)
{
	struct daemon *daemon = of->daemon;
	struct audit_execution *execution = &state->request.execution;
	struct audit_end end = {.cause = AUDIT_END_RECOVERED};
	struct compiled_policy policy = {.name = state->policy_name, .file = state->policy_file};
	struct recall found;

	if (recall(of, logs_directory(log), id, NULL, NULL, &found) < 0 || found.ended)
		return;
	memcpy(policy.digest, state->policy_digest, sizeof(policy.digest));
	hex_encode(policy.digest, sizeof(policy.digest), policy.digest_text);
	execution->policy = &policy;
	end.last_sequence = found.last_sequence;
	(void)logs_append(log, audit_record_end(execution, &end, clock_nsec(CLOCK_REALTIME)));
	execution->policy = NULL;
	daemon_record(daemon, "lost",
		      json_pack("{s:s,s:I}", "execution", id, "after",
				(json_int_t)found.last_sequence));
}

/*
 * Its slot went with the enforcement, as by `cordon disable --force` without a daemon: the file is
 * all that is left to tell its end from.
 */
static void record_lost(struct found *found, const char *id)
{
	struct daemon *daemon = found->daemon;
	struct state state = {};
	struct log_use *log;

	if (state_load(daemon->state_fd, id, &state, NULL) == 0 && state.started &&
	    logs_get(daemon->logs, state.log, &log, NULL) == 0) {
		write_lost_end(found, log, id, &state);
		logs_put(log);
	}
	state_release(&state);
}

static int remove_state(const char *id, void *context)
{
	struct found *found = context;
	char path[sizeof(DAEMON_TMP_PARENT "/cordon-") + UUID_TEXT_SIZE];

	if (is_live(found, id))
		return 0;
	record_lost(found, id);
	found->states++;
	snprintf(path, sizeof(path), DAEMON_TMP_PARENT "/cordon-%s", id);
	found->directories += faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	return leftovers_add(found->daemon, id);
}

int recovery_run(struct daemon *daemon, struct failure *failure)
{
	_cleanup_(found_release) struct found found = {.daemon = daemon};
	int r;

	if (daemon->origin != ENFORCEMENT_LOADED) {
		r = adopt_slots(&found);
		if (r < 0)
			return failure_set(failure, r,
					   "cannot take over what an earlier daemon "
					   "left: %m");
		/* Events of before the crash belong to those executions. */
		note_sequences(daemon);
		events_drain(daemon, EVENTS_ALL);
		settle_resumed(daemon);
		r = end_others(&found, failure);
		if (r < 0)
			return r;
	}
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
	if (daemon->origin != ENFORCEMENT_LOADED || found.cgroups || found.directories ||
	    found.states)
		daemon_record(daemon, "recover",
			      json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "executions",
					(json_int_t)found.executions, "resumed",
					(json_int_t)found.resumed, "cgroups",
					(json_int_t)found.cgroups, "directories",
					(json_int_t)found.directories, "state_files",
					(json_int_t)found.states, "failures",
					(json_int_t)found.failures));
	return 0;
}
