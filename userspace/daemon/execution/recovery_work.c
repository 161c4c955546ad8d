/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, beside the loop, what an earlier daemon left of executions in logs and policy files. */
#include "daemon/execution/recovery_work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/wait.h>

#include "audit/storage/policy_apart.h"
#include "audit/storage/recall.h"
#include "base/clock.h"
#include "base/hex.h"
#include "daemon/execution/adopted_calls.h"
#include "daemon/execution/ending.h"
#include "daemon/execution/events.h"
#include "daemon/execution/leftovers.h"
#include "daemon/execution/recovery.h"
#include "daemon/execution/resume.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/errand.h"
#include "policy/core/compiled_parcel.h"

/* One that does not answer by then is read as if it held nothing. */
#define READ_SECONDS 20
/* A cgroup stays busy for a moment after its last task. */
#define CGROUP_MSEC  5
#define CGROUP_TRIES 200u

struct lost {
	char id[UUID_TEXT_SIZE];
	struct state state;
};

/* A log that is read once for all executions that log there. */
struct log_recall {
	LIST_ENTRY(log_recall) link;
	struct daemon *daemon;
	struct log_use *log;
	bool begun;
	struct writer_wait *wait;
	struct errand *errand;
	struct lost *lost;
	size_t lost_count;
};

/* A policy that is read once for all executions under it. */
struct policy_read {
	LIST_ENTRY(policy_read) link;
	struct daemon *daemon;
	uint64_t ref;
	unsigned char digest[32];
	char *name, *log;
	bool observe, begun, stored; /* stored: the log's copy is being read, not the file */
	struct errand *errand;
};

struct recovery {
	struct recovery_counts counts;
	bool record, beginning;
	LIST_HEAD(, log_recall) logs;
	LIST_HEAD(, policy_read) policies;
	char (*cgroups)[UUID_TEXT_SIZE];
	size_t cgroup_count;
	unsigned int tries;
	struct event *timer;
};

static struct recovery *recovery_of(struct daemon *daemon)
{
	if (!daemon->recovery) {
		daemon->recovery = calloc(1, sizeof(*daemon->recovery));
		if (daemon->recovery)
			/* An embedded daemon stays until it is over. */
			daemon->unfinished++;
	}
	return daemon->recovery;
}

struct recovery_counts *recovery_work_counts(struct daemon *daemon)
{
	struct recovery *recovery = recovery_of(daemon);

	return recovery ? &recovery->counts : NULL;
}

static void log_recall_free(struct log_recall *job)
{
	LIST_REMOVE(job, link);
	if (job->wait)
		logs_cancel(job->log, job->wait);
	errand_cancel(job->errand);
	for (size_t i = 0; i < job->lost_count; i++)
		state_release(&job->lost[i].state);
	free(job->lost);
	logs_put(job->log);
	free(job);
}

static void policy_read_free(struct policy_read *job)
{
	LIST_REMOVE(job, link);
	errand_cancel(job->errand);
	free(job->name);
	free(job->log);
	free(job);
}

static void recovery_free(struct daemon *daemon)
{
	struct recovery *recovery = TAKE_PTR(daemon->recovery);

	while (!LIST_EMPTY(&recovery->logs))
		log_recall_free(LIST_FIRST(&recovery->logs));
	while (!LIST_EMPTY(&recovery->policies))
		policy_read_free(LIST_FIRST(&recovery->policies));
	if (recovery->timer)
		event_free(recovery->timer);
	free(recovery->cgroups);
	free(recovery);
	daemon->unfinished--;
}

static void record_recovery(struct daemon *daemon, const struct recovery_counts *counts)
{
	daemon_record(daemon, "recover",
		      json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "executions",
				(json_int_t)counts->executions, "resumed",
				(json_int_t)counts->resumed, "cgroups", (json_int_t)counts->cgroups,
				"directories", (json_int_t)counts->directories, "state_files",
				(json_int_t)counts->states, "failures",
				(json_int_t)counts->failures));
}

/* Everything was read, and every cgroup is gone or given up. */
static void end_if_over(struct daemon *daemon)
{
	struct recovery *recovery = daemon->recovery;

	if (recovery->beginning || !LIST_EMPTY(&recovery->logs) ||
	    !LIST_EMPTY(&recovery->policies) || recovery->cgroup_count > 0)
		return;
	if (recovery->record || recovery->counts.cgroups || recovery->counts.failures)
		record_recovery(daemon, &recovery->counts);
	recovery_free(daemon);
	if (daemon->unfinished == 0)
		daemon->idle(daemon);
}

/* --- an execution of which one part more is known ------------------------------------------ */

/* One whose start is on record is taken over; another one never ran, or cannot be watched. */
static void go_on_or_end(struct execution *e)
{
	bool has_policy = resume_policy(e) == 0;

	if (e->adopted || e->state >= EXECUTION_ENDING)
		return;
	if (has_policy && (e->resumed || resume(e) == 0))
		resume_asking(e);
	else
		ending_begin(e, recovery_cause(e));
}

static void note_read(struct execution *e, unsigned int part)
{
	struct daemon *daemon = e->daemon;
	uint32_t slot = e->slot;

	e->unread &= ~part;
	if (e->unread)
		return;
	recovery_record_change(e);
	go_on_or_end(e);
	if (daemon->by_slot[slot] != e)
		return;
	if (e->recovered && daemon->recovery &&
	    (e->adopted || (e->resumed && e->state < EXECUTION_ENDING)))
		daemon->recovery->counts.resumed++;
	if (e->adopted)
		daemon->adopted->recovered(e);
	if (daemon->by_slot[slot] != e)
		return;
	if (e->state == EXECUTION_DEAD)
		event_active(e->timer, EV_TIMEOUT, 1);
	events_release_kept(e);
}

/* --- what logs have ------------------------------------------------------------------------ */

/* No gap is to be recorded of what came before: that is on record. */
static void no_gap(uint64_t after, uint64_t before, void *context)
{
	(void)after;
	(void)before;
	(void)context;
}

struct told {
	char id[UUID_TEXT_SIZE];
	struct recall recall;
	struct sequence sequence; /* of the events that are on record */
};

static void note_range(uint64_t first, uint64_t last, void *context)
{
	struct told *told = context;

	sequence_add_range(&told->sequence, first, last, no_gap, NULL);
}

static int tell_one(const struct recall_window *window, const char *id, FILE *to)
{
	struct told told;

	memset(&told, 0, sizeof(told));
	memcpy(told.id, id, sizeof(told.id));
	recall_find(window, id, note_range, &told, &told.recall);
	return fwrite(&told, sizeof(told), 1, to) == 1 ? 0 : -EIO;
}

/* In a process of its own. */
static int read_log(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	_cleanup_(recall_window_freep) struct recall_window *window = NULL;
	const struct log_recall *job = context;
	const struct daemon *daemon = job->daemon;
	int r = recall_read(logs_directory(job->log), &window);

	(void)fds;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(daemon->by_slot); i++)
		if (daemon->by_slot[i] && daemon->by_slot[i]->recalled_by == job)
			r = tell_one(window, daemon->by_slot[i]->id, to);
	for (size_t i = 0; r == 0 && i < job->lost_count; i++)
		r = tell_one(window, job->lost[i].id, to);
	return r < 0 ? failure_set(failure, r, "%m") : 0;
}

/* NULL: nothing could be read. */
static const struct told *find_told(const char *data, size_t size, const char *id)
{
	for (size_t at = 0; size - at >= sizeof(struct told); at += sizeof(struct told)) {
		const struct told *told = (const void *)(data + at);

		if (memcmp(told->id, id, UUID_TEXT_SIZE) == 0)
			return told;
	}
	return NULL;
}

/*
 * A crash comes between any two steps. What the log has of this execution is certain: whether the
 * start is there, without which nothing ran; whether the end is, which is not to be recorded twice;
 * and which events are, of which those that are missing once the rings are read are a gap.
 */
static void take_told(struct execution *e, const struct told *told)
{
	const struct recall *found = told ? &told->recall : NULL;

	e->sequence = (struct sequence){.anywhere = true};
	if (!found)
		return;
	e->started = e->written = (e->started || found->started) && !found->ended;
	/* Nor does what is still to come of one that has ended begin it a second time. */
	e->adoption.unrecorded = found->ended;
	/* Before it there is a record of each event or a gap; what comes after it makes none. */
	if (found->ended)
		return;
	e->sequence = told->sequence;
	for (size_t i = 0; found->started && i < ARRAY_SIZE(e->unwritten); i++)
		if (e->unwritten[i] > 0)
			sequence_add(&e->sequence, e->unwritten[i], no_gap, NULL);
	/* What lies before the window is taken to be on record. */
	if (!found->started && e->sequence.count > 0)
		e->sequence.settled = e->sequence.runs[0].first - 1;
	if (!found->started && found->last_sequence == 0)
		e->sequence.anywhere = true;
}

/* What came behind the last event on record, and the counters, nobody has any more. */
static void record_lost_end(struct daemon *daemon, struct log_use *log, struct lost *lost,
			    const struct recall *found)
{
	struct state *state = &lost->state;
	struct audit_execution *execution = &state->request.execution;
	struct audit_end end = {.cause = AUDIT_END_RECOVERED};
	struct compiled_policy policy = {.name = state->policy_name, .file = state->policy_file};

	if (found->ended)
		return;
	if (state->told) {
		end.cause = WIFSIGNALED(state->told_status) ? AUDIT_END_SIGNALED : AUDIT_END_EXITED;
		end.have_status = true;
		end.status = state->told_status;
	}
	memcpy(policy.digest, state->policy_digest, sizeof(policy.digest));
	hex_encode(policy.digest, sizeof(policy.digest), policy.digest_text);
	execution->policy = &policy;
	end.last_sequence = found->last_sequence;
	(void)logs_append(log, audit_record_end(execution, &end, clock_nsec(CLOCK_REALTIME)));
	execution->policy = NULL;
	daemon_record(daemon, "lost",
		      json_pack("{s:s,s:I}", "execution", lost->id, "after",
				(json_int_t)found->last_sequence));
}

static void remove_leftovers(struct daemon *daemon, const char *id)
{
	int r = leftovers_add(daemon, id);

	if (r == 0)
		r = leftovers_start(daemon);
	if (r < 0)
		daemon_say(daemon, "what execution %s left is not removed: %s", id, strerror(-r));
}

/*
 * What does not answer now is left to the next daemon, with the state file that its end can be
 * recorded from.
 */
static void finish_lost(struct log_recall *job, struct lost *lost, const struct told *told,
			int result)
{
	if (told)
		record_lost_end(job->daemon, job->log, lost, &told->recall);
	if (told || result != -ETIMEDOUT)
		remove_leftovers(job->daemon, lost->id);
	else
		daemon_say(job->daemon,
			   "execution %s: the log in %s does not answer; its end is recorded later",
			   lost->id, logs_directory(job->log));
}

static void log_is_read(struct log_recall *job, int result, const char *data, size_t size)
{
	struct daemon *daemon = job->daemon;

	for (size_t i = 0; i < job->lost_count; i++)
		finish_lost(job, &job->lost[i],
			    result == 0 ? find_told(data, size, job->lost[i].id) : NULL, result);
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++) {
		struct execution *e = daemon->by_slot[i];

		if (!e || e->recalled_by != job)
			continue;
		e->recalled_by = NULL;
		take_told(e, result == 0 ? find_told(data, size, e->id) : NULL);
		note_read(e, EXECUTION_UNREAD_LOG);
	}
	log_recall_free(job);
	daemon_flush_soon(daemon);
	end_if_over(daemon);
}

static void on_log_read(void *context, int result, const char *data, size_t size,
			struct errand_fds *fds, const struct failure *failure)
{
	struct log_recall *job = context;

	(void)fds;
	(void)failure;
	job->errand = NULL;
	log_is_read(job, result, data, size);
}

static void start_to_read(struct log_recall *job)
{
	const struct errand_job errand = {
		.what = "what reads the end of a log",
		.uid = RECOVERY_UID_LOG,
		.seconds = READ_SECONDS,
		.work = read_log,
		.done = on_log_read,
		.context = job,
	};
	int r = errand_start(job->daemon->base, &errand, &job->errand, NULL);

	if (r < 0)
		log_is_read(job, r, NULL, 0);
}

/* It is not there any more, or not a log: records go to the daemon's own. */
static void leave_log(struct log_recall *job, int error)
{
	struct daemon *daemon = job->daemon;
	struct failure failure = {};

	(void)logs_unwritable(job->log, error, &failure);
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++) {
		struct execution *e = daemon->by_slot[i];

		if (!e || e->recalled_by != job || e->log == daemon->log)
			continue;
		daemon_say(daemon, "execution %s: %s; its end goes to %s", e->id, failure.text,
			   logs_directory(daemon->log));
		logs_put(e->log);
		e->log = logs_share(daemon->log);
	}
}

static void on_log_ready(int result, void *context)
{
	struct log_recall *job = context;

	job->wait = NULL;
	if (result < 0 && result != -ETIMEDOUT && !logs_has_begun(job->log))
		leave_log(job, result);
	/* A frozen file system can be read. */
	start_to_read(job);
}

/* Its writer repairs its end first. */
static void begin_log(struct log_recall *job)
{
	int r;

	job->begun = true;
	r = logs_when_begun(job->log, on_log_ready, job, &job->wait);
	if (r < 0)
		log_is_read(job, r, NULL, 0);
	else if (r == 0)
		start_to_read(job);
}

static struct log_recall *recall_of(struct daemon *daemon, struct log_use *log)
{
	struct recovery *recovery = recovery_of(daemon);
	struct log_recall *job;

	if (!recovery)
		return NULL;
	LIST_FOREACH(job, &recovery->logs, link)
	if (job->log == log && !job->begun)
		return job;
	job = calloc(1, sizeof(*job));
	if (!job)
		return NULL;
	job->daemon = daemon;
	job->log = logs_share(log);
	LIST_INSERT_HEAD(&recovery->logs, job, link);
	return job;
}

int recovery_work_recall(struct execution *e)
{
	struct log_recall *job = recall_of(e->daemon, e->log);

	if (!job)
		return -ENOMEM;
	e->recalled_by = job;
	e->unread |= EXECUTION_UNREAD_LOG;
	return 0;
}

int recovery_work_lost(struct daemon *daemon, const char *id, struct state *state)
{
	struct log_recall *job = NULL;
	struct log_use *log = NULL;
	struct lost *larger;
	int r = logs_get_later(daemon->logs, state->log, &log, NULL);

	if (r < 0)
		return r;
	job = recall_of(daemon, log);
	logs_put(log);
	if (!job)
		return -ENOMEM;
	larger = reallocarray(job->lost, job->lost_count + 1, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	job->lost = larger;
	memcpy(larger[job->lost_count].id, id, UUID_TEXT_SIZE);
	larger[job->lost_count++].state = *state;
	*state = (struct state){};
	return 0;
}

/* --- policies ------------------------------------------------------------------------------ */

static int read_policy(const void *context, FILE *to, struct errand_fds *fds,
		       struct failure *failure)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	const struct policy_read *job = context;
	char digest[SHA256_TEXT_SIZE];
	int r;

	(void)fds;
	hex_encode(job->digest, sizeof(job->digest), digest);
	r = job->stored ? policy_store_get_apart(job->log, digest, &policy, NULL)
			: policies_compile(job->daemon->policies, job->name, job->observe, &policy);
	if (r == 0 && memcmp(policy->digest, job->digest, sizeof(job->digest)) != 0)
		r = -ESTALE;
	if (r < 0)
		return failure_set(failure, r, "%m");
	compiled_policy_put(to, policy);
	return 0;
}

/* What is kept of a name is this execution's: another policy with these tables may have others. */
static int replace_policy(struct execution *e, const char *data, size_t size)
{
	struct compiled_policy *known = e->recovered_policy, *policy = NULL;
	struct parcel from = {data, size};
	int r;

	e->policy = policies_resumed(e->daemon->policies, e->view->policy, known->digest,
				     known->name, known->file);
	if (e->policy) {
		e->record.policy = e->policy->policy;
		compiled_policy_free(TAKE_PTR(e->recovered_policy));
		return 0;
	}
	r = compiled_policy_take(&from, &policy);
	if (r < 0)
		return r;
	free(policy->name);
	free(policy->file);
	policy->name = TAKE_PTR(known->name);
	policy->file = TAKE_PTR(known->file);
	e->recovered_policy = policy;
	e->record.policy = policy;
	compiled_policy_free(known);
	return 0;
}

static void policy_is_read(struct policy_read *job, int result, const char *data, size_t size)
{
	struct daemon *daemon = job->daemon;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++) {
		struct execution *e = daemon->by_slot[i];

		if (!e || !(e->unread & EXECUTION_UNREAD_POLICY) || e->view->policy != job->ref ||
		    memcmp(e->recovered_policy->digest, job->digest, sizeof(job->digest)) != 0)
			continue;
		if (result == 0 && replace_policy(e, data, size) == 0)
			(void)resume_policy(e);
		note_read(e, EXECUTION_UNREAD_POLICY);
	}
	policy_read_free(job);
	end_if_over(daemon);
}

static void begin_policy(struct policy_read *job);

static void on_policy_read(void *context, int result, const char *data, size_t size,
			   struct errand_fds *fds, const struct failure *failure)
{
	struct policy_read *job = context;

	(void)fds;
	(void)failure;
	job->errand = NULL;
	if (result < 0 && !job->stored) {
		job->stored = true;
		begin_policy(job);
	} else {
		policy_is_read(job, result, data, size);
	}
}

static void begin_policy(struct policy_read *job)
{
	const struct errand_job errand = {
		.what = "what reads the policy of an execution",
		.uid = RECOVERY_UID_POLICY,
		.seconds = READ_SECONDS,
		.work = read_policy,
		.done = on_policy_read,
		.context = job,
		.most = (size_t)CORDON_MAX_PAGES * CORDON_PAGE_SIZE + ERRAND_DATA_MAX,
	};
	int r;

	job->begun = true;
	r = errand_start(job->daemon->base, &errand, &job->errand, NULL);
	if (r < 0)
		policy_is_read(job, r, NULL, 0);
}

int recovery_work_policy(struct execution *e, const char *name, bool observe, const char *log)
{
	struct recovery *recovery = recovery_of(e->daemon);
	struct policy_read *job;

	if (!recovery)
		return -ENOMEM;
	e->unread |= EXECUTION_UNREAD_POLICY;
	LIST_FOREACH(job, &recovery->policies, link)
	if (!job->begun && job->ref == e->view->policy &&
	    memcmp(job->digest, e->recovered_policy->digest, sizeof(job->digest)) == 0)
		return 0;
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	LIST_INSERT_HEAD(&recovery->policies, job, link);
	job->daemon = e->daemon;
	job->ref = e->view->policy;
	memcpy(job->digest, e->recovered_policy->digest, sizeof(job->digest));
	job->observe = observe;
	job->name = strdup(name);
	job->log = strdup(log);
	return job->name && job->log ? 0 : -ENOMEM;
}

/* --- cgroups ------------------------------------------------------------------------------- */

static void on_cgroups(evutil_socket_t fd, short what, void *context)
{
	TURN("leftovers");
	const struct timeval after = {.tv_usec = CGROUP_MSEC * 1000};
	struct daemon *daemon = context;
	struct recovery *recovery = daemon->recovery;
	size_t left = 0;

	(void)fd;
	(void)what;
	recovery->tries++;
	for (size_t i = 0; i < recovery->cgroup_count; i++) {
		char *name = recovery->cgroups[i];
		int r = cgroup_remove(&daemon->cgroups, name);

		if (r == -EBUSY && recovery->tries < CGROUP_TRIES) {
			memmove(recovery->cgroups[left++], name, UUID_TEXT_SIZE);
			continue;
		}
		if (r == 0)
			recovery->counts.cgroups++;
		else
			recovery_note_failure(daemon, "cgroup", name, r);
	}
	recovery->cgroup_count = left;
	if (left > 0 && evtimer_add(recovery->timer, &after) < 0)
		recovery->cgroup_count = 0;
	end_if_over(daemon);
}

int recovery_work_cgroup(struct daemon *daemon, const char *name)
{
	struct recovery *recovery = recovery_of(daemon);
	void *larger;

	if (!recovery)
		return -ENOMEM;
	if (!recovery->timer)
		recovery->timer = evtimer_new(daemon->base, on_cgroups, daemon);
	larger = recovery->timer ? reallocarray(recovery->cgroups, recovery->cgroup_count + 1,
						sizeof(*recovery->cgroups))
				 : NULL;
	if (!larger)
		return -ENOMEM;
	recovery->cgroups = larger;
	snprintf(recovery->cgroups[recovery->cgroup_count++], UUID_TEXT_SIZE, "%s", name);
	return 0;
}

/* ------------------------------------------------------------------------------------------- */

void recovery_work_begin(struct daemon *daemon, bool record)
{
	const struct timeval after = {.tv_usec = CGROUP_MSEC * 1000};
	struct recovery *recovery = recovery_of(daemon);
	struct policy_read *policy, *next_policy;
	struct log_recall *log, *next_log;

	if (!recovery)
		return;
	recovery->record |= record;
	/* One that cannot be started is freed at once; the whole must stay until all are. */
	recovery->beginning = true;
	if (recovery->cgroup_count > 0 && evtimer_add(recovery->timer, &after) < 0)
		recovery->cgroup_count = 0;
	for (policy = LIST_FIRST(&recovery->policies); policy; policy = next_policy) {
		next_policy = LIST_NEXT(policy, link);
		if (!policy->begun)
			begin_policy(policy);
	}
	for (log = LIST_FIRST(&recovery->logs); log; log = next_log) {
		next_log = LIST_NEXT(log, link);
		if (!log->begun)
			begin_log(log);
	}
	recovery->beginning = false;
	end_if_over(daemon);
}

void recovery_work_stop(struct daemon *daemon)
{
	if (!daemon->recovery)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++) {
		struct execution *e = daemon->by_slot[i];

		if (!e)
			continue;
		e->unread = 0;
		e->recalled_by = NULL;
	}
	recovery_free(daemon);
}
