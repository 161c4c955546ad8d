/* SPDX-License-Identifier: Apache-2.0 */
/* Brings what a call waits for before a person, and has the call made again. */
#include "daemon/execution/asking.h"

#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>

#include "base/clock.h"
#include "daemon/execution/approval_check.h"
#include "daemon/execution/proposal.h"
#include "daemon/host/turn.h"
#include "daemon/policy/approvals.h"
#include "daemon/privsep/errand.h"

/* Known by name; where there are more, all processes of the execution are looked through. */
#define WAITERS_MAX 32u

struct question {
	struct question *next;
	struct execution *e;
	uint64_t key; /* in the kernel */
	struct proposal proposal;
	struct errand *errand;	       /* while it is compiled and compared */
	char digest[SHA256_TEXT_SIZE]; /* in the inbox; empty: it is not there yet */
	uint64_t expires;	       /* there; wall clock */
	struct event *timer;
	pid_t waiters[WAITERS_MAX];
	size_t waiter_count;
	bool more_waiters;
	/*
	 * An approval of another question changed the policy, so that this one is proposed again
	 * with that as its base. Whoever approves has seen the rules under the former digests.
	 */
	bool renewing;
	json_t *rules; /* that it asks for */
	char former[CORDON_ASKS_EACH][SHA256_TEXT_SIZE];
	size_t former_count;
};

static uint32_t ask_msec(const struct execution *e)
{
	struct cordon_policy_header header;

	if (!e->record.policy || !e->record.policy->tables)
		return 0;
	memcpy(&header, e->record.policy->tables, sizeof(header));
	return header.ask_msec;
}

bool asking_is_possible(const struct execution *e)
{
	return ask_msec(e) > 0 && !e->record.observe && approvals_required(e->daemon);
}

/* --- going on ----------------------------------------------------------------------------- */

/* Whoever has the number by now. */
static void go_on(const struct execution *e, pid_t pid)
{
	_cleanup_(closep) int pidfd = pidfd_open(pid, 0);
	uint32_t slot, generation;

	if (pidfd >= 0 &&
	    enforcement_label_of(e->daemon->enforcement, pidfd, &slot, &generation) == 0 &&
	    slot == e->slot && generation == e->generation)
		(void)pidfd_send_signal(pidfd, SIGCONT, NULL, 0);
}

static int go_on_if_own(const struct cordon_task_record *task, void *context)
{
	const struct execution *e = context;

	if (task->slot == e->slot && task->generation == e->generation && task->tid == task->tgid)
		go_on(e, (pid_t)task->tgid);
	return 0;
}

static void all_go_on(struct execution *e)
{
	int r = enforcement_for_each_task(e->daemon->enforcement, go_on_if_own, e);

	if (r < 0)
		daemon_say(e->daemon, "execution %s: processes that wait cannot be found: %s",
			   e->id, strerror(-r));
}

static void waiters_go_on(struct question *q)
{
	for (size_t i = 0; i < q->waiter_count; i++)
		go_on(q->e, q->waiters[i]);
	if (q->more_waiters)
		all_go_on(q->e);
}

/* --- a question's life -------------------------------------------------------------------- */

static void unlink_question(struct question *q)
{
	struct question **at = &q->e->questions;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
}

static void withdraw(struct question *q)
{
	errand_cancel(q->errand);
	q->errand = NULL;
	if (q->e->daemon->approvals && q->digest[0])
		approvals_withdraw(q->e->daemon->approvals, q->digest, q->expires);
	q->digest[0] = '\0';
	proposal_release(q->e->daemon, &q->proposal);
}

static void question_free(struct question *q)
{
	withdraw(q);
	json_decref(q->rules);
	if (q->timer)
		event_free(q->timer);
	free(q);
}

static void refuse_key(struct execution *e, uint64_t key)
{
	int r = enforcement_refuse_question(e->daemon->enforcement, key);

	if (r < 0)
		daemon_say(e->daemon, "execution %s: the answer cannot be given: %s", e->id,
			   strerror(-r));
}

static void refuse(struct question *q)
{
	refuse_key(q->e, q->key);
	waiters_go_on(q);
	unlink_question(q);
	question_free(q);
}

static void on_overdue(evutil_socket_t fd, short what, void *context)
{
	TURN("question");
	struct question *q = context;

	(void)fd;
	(void)what;
	/* A call that the new policy allows was not made again, and nothing waits. */
	if (q->renewing) {
		unlink_question(q);
		question_free(q);
		return;
	}
	refuse(q);
}

static int arm(struct question *q, uint64_t left)
{
	const struct timeval after = {
		.tv_sec = (time_t)(left / NSEC_PER_SEC),
		.tv_usec = (suseconds_t)(left % NSEC_PER_SEC / 1000),
	};

	(void)event_base_update_cache_time(q->e->daemon->base);
	return evtimer_add(q->timer, &after) < 0 ? -ENOMEM : 0;
}

static int work(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	const struct question *q = context;

	(void)fds;
	return proposal_work(q->e->daemon, &q->proposal, to, failure);
}

/* An earlier daemon may have put it there, and it ends when that said so. */
static void take_entry(struct question *q, const json_t *entry)
{
	uint64_t now = clock_nsec(CLOCK_REALTIME);

	snprintf(q->digest, sizeof(q->digest), "%s",
		 json_string_value(json_object_get(entry, "digest")));
	q->expires = (uint64_t)json_integer_value(json_object_get(entry, "expires"));
	if (q->expires < q->proposal.expires)
		(void)arm(q, q->expires > now ? q->expires - now : 0);
}

static void on_compared(void *context, int result, const char *data, size_t size,
			struct errand_fds *fds, const struct failure *why)
{
	struct question *q = context;
	struct failure failure = *why;
	json_t *entry = NULL;
	uint64_t left;

	(void)fds;
	q->errand = NULL;
	if (result == 0)
		result = proposal_put(q->e->daemon, &q->proposal, data, size, &entry, &left,
				      &failure);
	if (result < 0) {
		daemon_say(q->e->daemon, "execution %s: a call that waited is denied: %s", q->e->id,
			   failure.text);
		refuse(q);
		return;
	}
	take_entry(q, entry);
	json_decref(entry);
}

/* Another rule than the one that was seen is approved by its own digest alone. */
static void note_rules(struct question *q)
{
	if (!json_equal(q->rules, q->proposal.refused.rules))
		q->former_count = 0;
	json_decref(q->rules);
	q->rules = json_incref(q->proposal.refused.rules);
}

static int propose(struct question *q, const struct cordon_event *event,
		   const struct buffer *record, uint64_t left, struct failure *failure)
{
	struct daemon *daemon = q->e->daemon;
	struct errand_job job = {
		.what = "what compiles and compares policies",
		.uid = q->e->owner.uid,
		.seconds = (time_t)(left / NSEC_PER_SEC) + 1,
		.work = work,
		.done = on_compared,
		.context = q,
		.most = PROPOSAL_DATA_MAX,
	};
	int r = proposal_of_call(q->e, event, record, clock_nsec(CLOCK_REALTIME) + left,
				 &q->proposal, failure);

	if (r < 0)
		return r;
	note_rules(q);
	return errand_start(daemon->base, &job, &q->errand, failure);
}

static uint64_t time_left(const struct execution *e, const struct cordon_event *event)
{
	uint64_t until = event->time + ask_msec(e) * NSEC_PER_MSEC;
	uint64_t now = clock_nsec(CLOCK_BOOTTIME);

	return until > now ? until - now : 0;
}

static int begin(struct question *q, const struct cordon_event *event, const struct buffer *record,
		 struct failure *failure)
{
	uint64_t left = time_left(q->e, event);

	if (left == 0 || !asking_is_possible(q->e))
		return failure_set(failure, ETIME, "its time is up, or nobody is asked any more");
	if (!record)
		return failure_set(failure, ENODATA, "it cannot be put into words");
	if (!q->timer)
		q->timer = evtimer_new(q->e->daemon->base, on_overdue, q);
	if (!q->timer || arm(q, left) < 0)
		return failure_set(failure, ENOMEM, "%m");
	return propose(q, event, record, left, failure);
}

static void add_waiter(struct question *q, const struct cordon_event *event)
{
	for (size_t i = 0; i < q->waiter_count; i++)
		if (q->waiters[i] == (pid_t)event->tgid)
			return;
	if (q->waiter_count == WAITERS_MAX)
		q->more_waiters = true;
	else
		q->waiters[q->waiter_count++] = (pid_t)event->tgid;
}

static struct question *find(const struct execution *e, uint64_t key)
{
	struct question *q = e->questions;

	while (q && q->key != key)
		q = q->next;
	return q;
}

/* NULL: it is refused. */
static struct question *question_new(struct execution *e, const struct cordon_event *event)
{
	uint64_t key = event->sequence;
	struct question *q = calloc(1, sizeof(*q));

	/* It may have begun to wait while the answer was given. */
	if (!q || enforcement_has_refused(e->daemon->enforcement, key)) {
		free(q);
		refuse_key(e, key);
		go_on(e, (pid_t)event->tgid);
		return NULL;
	}
	q->e = e;
	q->key = key;
	q->next = e->questions;
	e->questions = q;
	return q;
}

void asking_take(struct execution *e, const struct cordon_event *event, const struct buffer *record)
{
	uint64_t key = event->sequence;
	struct question *q = find(e, key);
	struct failure failure = {};

	if (e->state != EXECUTION_LIVE)
		return;
	if (q && !q->renewing) {
		add_waiter(q, event);
		return;
	}
	if (!q)
		q = question_new(e, event);
	if (!q)
		return;
	q->renewing = false;
	add_waiter(q, event);
	if (begin(q, event, record, &failure) < 0) {
		daemon_say(e->daemon, "execution %s: a call that waited is denied: %s", e->id,
			   failure.text);
		refuse(q);
	}
}

/* --- answers ------------------------------------------------------------------------------ */

static void give_asks(struct execution *e)
{
	enforcement_set_asks(e->daemon->enforcement, e->slot,
			     asking_is_possible(e) ? CORDON_ASKS_EACH : 0);
}

void asking_start(struct execution *e)
{
	/* What is left of them stays so. */
	if (!e->recovered || !asking_is_possible(e))
		give_asks(e);
	if (e->recovered && ask_msec(e) > 0)
		all_go_on(e);
}

void asking_policy_changed(struct execution *e)
{
	struct question *q;

	give_asks(e);
	while ((q = e->questions) != NULL) {
		e->questions = q->next;
		waiters_go_on(q);
		question_free(q);
	}
}

static void renew(struct question *q)
{
	if (q->digest[0] && q->former_count < ARRAY_SIZE(q->former))
		memcpy(q->former[q->former_count++], q->digest, sizeof(q->digest));
	withdraw(q);
	q->renewing = true;
	waiters_go_on(q);
	q->waiter_count = 0;
	q->more_waiters = false;
}

void asking_policy_amended(struct execution *e)
{
	give_asks(e);
	for (struct question *q = e->questions; q; q = q->next)
		renew(q);
}

static bool had_digest(const struct question *q, const char *digest)
{
	for (size_t i = 0; i < q->former_count; i++)
		if (strncasecmp(q->former[i], digest, strlen(digest)) == 0)
			return true;
	return false;
}

int asking_find_renewed(const struct daemon *daemon, const char *digest,
			char ret_digest[SHA256_TEXT_SIZE])
{
	const struct question *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++) {
		const struct execution *e = daemon->by_slot[i];

		for (const struct question *q = e ? e->questions : NULL; q; q = q->next) {
			if (!had_digest(q, digest))
				continue;
			if (found)
				return -ENOTUNIQ;
			found = q;
		}
	}
	if (!found)
		return -ENOENT;
	if (!found->digest[0])
		return -EAGAIN;
	memcpy(ret_digest, found->digest, SHA256_TEXT_SIZE);
	return 0;
}

void asking_not_granted(struct daemon *daemon, const char *digest)
{
	for (size_t i = 0; i < ARRAY_SIZE(daemon->by_slot); i++) {
		struct execution *e = daemon->by_slot[i];
		struct question *q = e ? e->questions : NULL;

		while (q && strcmp(q->digest, digest) != 0)
			q = q->next;
		if (q)
			refuse(q);
	}
}

void asking_release(struct execution *e)
{
	struct question *q;

	while ((q = e->questions) != NULL) {
		e->questions = q->next;
		question_free(q);
	}
}
