/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What requests need that takes time: their policy, compiled, what the host says of its users, and
 * the log's writer.
 */
#include "daemon/execution/approval_check.h"
#include "daemon/server/ahead.h"

#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parcel.h"
#include "control/decide_request.h"
#include "control/request.h"
#include "daemon/execution/apply.h"
#include "daemon/execution/places.h"
#include "daemon/executor/executors.h"
#include "daemon/executor/gathering.h"
#include "daemon/host/process.h"
#include "daemon/host/turn.h"
#include "daemon/peer/member.h"
#include "daemon/policy/approvals.h"
#include "daemon/policy/comparing.h"
#include "daemon/policy/compiling.h"
#include "daemon/policy/indirect_policy.h"
#include "daemon/policy/keeping.h"
#include "daemon/privsep/errand.h"
#include "daemon/privsep/errand_time.h"
#include "daemon/privsep/reader_process.h"
#include "daemon/server/approve.h"

struct ahead {
	struct connection *c;
	pid_t daemon;
	struct errand *errand;
	json_t *message;
	struct protocol_fds fds;
	ahead_ready *ready;
	struct event *soon; /* nothing is missing any more */
	bool refused;
	enum request_op op;
	/* The policies that it is about: none, if it is to be refused without a look at them. */
	struct compiling_wishes wishes;
	struct compiling *compiling; /* what they are stays until it is dispatched */
	struct compiling *amending;  /* the one in the place of the first: see indirect_policy.h */
	char *policy;		     /* the first of them, or NULL */
	char **indirections;	     /* that are known of its work directory, or NULL */
	bool observe;
	struct comparing *comparing;
	struct keeping *keeping;
	struct gathering *gathering; /* of cordon.yaml, that is to be loaded */
	bool run_by, account; /* whom the policy names, and the user's account, are to be known */
	char **questions;     /* see names.h */
	char *directory;      /* of a log that is named, or NULL */
	struct log_use *log;  /* that is to be writable, or NULL */
	struct writer_wait *waiting;
};

static void ahead_free(struct ahead *a)
{
	if (!a)
		return;
	keeping_free(a->keeping);
	comparing_free(a->comparing);
	gathering_free(a->gathering);
	compiling_free(a->amending);
	compiling_free(a->compiling);
	if (a->waiting)
		logs_cancel(a->log, a->waiting);
	logs_put(a->log);
	compiling_wishes_release(&a->wishes);
	json_decref(a->message);
	protocol_fds_close(&a->fds);
	if (a->soon)
		event_free(a->soon);
	protocol_strings_free(a->questions);
	protocol_strings_free(a->indirections);
	free(a->directory);
	free(a->policy);
	free(a);
}
DEFINE_CLEANUP(struct ahead *, ahead_free, ahead_freep)

/* --- what is to be known ------------------------------------------------------------------ */

static int wish(struct ahead *a, const char *policy, bool observe)
{
	if (!a->policy)
		a->policy = strdup(policy);
	return a->policy ? compiling_wish(&a->wishes, policy, NULL, observe) : -ENOMEM;
}

/* Nothing for one that is refused without looking at its policy. */
static int want_for_prepare(struct ahead *a, json_t *message)
{
	const struct connection *c = a->c;
	struct prepare_request request;
	struct failure ignored = {};
	int r = 0;

	if (c->daemon->leaving || c->execution || c->have_outcome ||
	    prepare_request_parse(message, &request, &ignored) < 0)
		return 0;
	if (c->peer.root || member_check_request(&c->peer, &request, &ignored) == 0) {
		a->run_by = !c->peer.root;
		a->account = !c->peer.root && request.home;
		r = wish(a, request.policy, request.execution.observe);
		a->indirections = TAKE_PTR(request.indirections);
		a->observe = request.execution.observe;
		if (!request.log)
			a->log = logs_share(c->daemon->log);
		else if (r == 0 && !(a->directory = strdup(request.log)))
			r = -ENOMEM;
	}
	prepare_request_release(&request);
	return r;
}

static int want_for_decision(struct ahead *a, json_t *message)
{
	_cleanup_(decide_request_release) struct decide_request request = {};
	struct failure ignored = {};

	if (!approvals_required(a->c->daemon) ||
	    decide_request_parse(message, &request, &ignored) < 0)
		return 0;
	a->account = true;
	return request.policy && (a->c->peer.root || member_is_plain_name(request.policy))
		       ? wish(a, request.policy, false)
		       : 0;
}

/* In force, and as one that only observes: as those are that it is for. */
static int want_for_apply(struct ahead *a, json_t *message)
{
	_cleanup_(apply_request_release) struct apply_request request = {};
	struct failure ignored = {};
	bool forms[2];
	int r = 0;

	if (!a->c->peer.root || apply_request_parse(message, &request, &ignored) < 0)
		return 0;
	apply_forms(a->c->daemon, &request, forms);
	for (size_t observe = 0; r == 0 && observe < ARRAY_SIZE(forms); observe++)
		if (forms[observe])
			r = wish(a, request.policy, observe);
	return r;
}

static int want(struct ahead *a, json_t *message)
{
	struct failure ignored = {};

	if (request_op(message, &a->op, &ignored) < 0)
		return 0;
	if (a->op == REQUEST_PREPARE)
		return want_for_prepare(a, message);
	if (a->op == REQUEST_APPLY)
		return want_for_apply(a, message);
	return a->op == REQUEST_DECIDE ? want_for_decision(a, message) : 0;
}

static int add_question(struct ahead *a, const char *text)
{
	size_t count = 0;
	char **larger;

	while (a->questions && a->questions[count])
		count++;
	larger = reallocarray(a->questions, count + 2, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	a->questions = larger;
	larger[count + 1] = NULL;
	larger[count] = strdup(text);
	return larger[count] ? 0 : -ENOMEM;
}

/* The record of a decision says by name who it was, as whom somebody was logged in. */
static int add_account(struct ahead *a)
{
	const struct peer *peer = &a->c->peer;
	char question[NAMES_ACCOUNT_SIZE];
	uint32_t uid;

	if (a->op != REQUEST_DECIDE || process_login(peer->ucred.pid, &uid) < 0)
		uid = peer->ucred.uid;
	names_account(uid, question);
	return add_question(a, question);
}

static int add_questions(struct ahead *a)
{
	bool about_approvals = a->op == REQUEST_DECIDE || a->op == REQUEST_APPROVALS;
	const struct policy_use *use = compiling_use(a->compiling, 0);
	char *const *name = a->run_by && use ? use->policy->run_by : NULL;
	int r = 0;

	if (about_approvals && !a->c->peer.root)
		r = add_question(a, "@" APPROVE_GROUP);
	for (; r == 0 && name && *name; name++)
		r = add_question(a, *name);
	return r == 0 && a->account ? add_account(a) : r;
}

/* --- in processes of their own ------------------------------------------------------------ */

/*
 * As whoever asks: he may know of himself what he can find out anyway, and what answers him has no
 * rights over others.
 */
static bool become(const struct peer *peer)
{
	uid_t uid = peer->root ? READER_UID : peer->ucred.uid;
	gid_t gid = peer->root ? READER_UID : peer->ucred.gid;

	return geteuid() != 0 || (setgroups(peer->group_count, peer->groups) == 0 &&
				  setresgid(gid, gid, gid) == 0 && setresuid(uid, uid, uid) == 0);
}

static int look_up(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	const struct ahead *a = context;

	(void)fds;
	/* A change of user forgets that it is to die with the daemon. */
	if (!become(&a->c->peer) || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != a->daemon)
		return failure_set(failure, EPERM, "what looks users up cannot give up its rights");
	names_look_up(a->questions, to);
	return 0;
}

static const struct log_use *log_of(const struct ahead *a)
{
	return a->log ? a->log : a->c->daemon->log;
}

/* --- the answers -------------------------------------------------------------------------- */

/* What was refused is on record, as it would be if it had been dispatched. */
static void refuse(const struct ahead *a, int error, const char *text)
{
	struct connection *c = a->c;

	if (a->op == REQUEST_PREPARE) {
		(void)logs_append(c->daemon->log, audit_record_refused(a->policy ? a->policy : "",
								       text, c->peer.ucred.uid,
								       clock_nsec(CLOCK_REALTIME)));
		daemon_flush_soon(c->daemon);
	}
	connection_refuse(c, error, text);
}

static void on_soon(evutil_socket_t fd, short what, void *context)
{
	TURN("request");
	_cleanup_(ahead_freep) struct ahead *a = context;
	struct names *names = &a->c->daemon->names;

	(void)fd;
	(void)what;
	a->c->ahead = NULL;
	if (!a->refused)
		a->c->log = TAKE_PTR(a->log);
	a->c->gathering = a->gathering;
	a->ready(a->c, a->refused ? NULL : a->message, &a->fds);
	a->c->gathering = NULL;
	names_forget_missing(names);
}

/* A host with empty caches and slow disks takes its time for the first launch. */
#define PLACES_SECONDS 60

static int check_in_worker(const void *context, FILE *to, struct errand_fds *fds,
			   struct failure *failure)
{
	const struct ahead *a = context;

	(void)fds;
	(void)failure;
	places_check(a->c->places, ERRAND_KEPT_FD, log_of(a), to);
	return 0;
}

/* A check that has no result makes dispatching it fail. */
static void on_places(void *context, int result, const char *data, size_t size,
		      struct errand_fds *fds, const struct failure *why)
{
	struct ahead *a = context;

	(void)fds;
	(void)why;
	a->errand = NULL;
	if (result == 0)
		(void)places_take(a->c->places, data, size);
	turn_of_its_own(a->soon);
}

/* 0: the directories are checked, or there is no memory; 1: on_places() is called. */
static int check_places(struct ahead *a)
{
	struct errand_job job = {
		.what = "the worker that checks directories",
		.uid = a->c->peer.ucred.uid,
		.seconds = PLACES_SECONDS,
		.work = check_in_worker,
		.done = on_places,
		.context = a,
	};
	struct failure ignored = {};
	struct connection *c = a->c;

	if (a->op != REQUEST_PREPARE)
		return 0;
	free(c->places);
	c->places = calloc(1, sizeof(*c->places));
	if (!c->places || !places_check_cached(c->places, &a->fds, !c->peer.root, log_of(a)))
		return 0;
	job.kept_count = c->places->count;
	memcpy(job.kept, a->fds.fd, job.kept_count * sizeof(job.kept[0]));
	return errand_start(c->daemon->base, &job, &a->errand, &ignored) == 0;
}

static void on_looked_up(void *context)
{
	struct ahead *a = context;

	turn_of_its_own(a->soon);
}

/* Nothing is missing any more, or it was refused. What is left to do has a turn of its own. */
static void go_on(struct ahead *a, bool refused)
{
	struct failure ignored = {};

	a->refused = refused;
	if (!refused && a->gathering &&
	    gathering_look_up(a->gathering, a->compiling, on_looked_up, a, &ignored) > 0)
		return;
	if (refused || check_places(a) == 0)
		turn_of_its_own(a->soon);
}

/* Where it is for others later, or the log is about to be another, it is tried again then. */
static void on_kept(void *context, int result, const struct failure *why)
{
	struct ahead *a = context;
	bool refused = result < 0 && result != -ESTALE && a->op == REQUEST_PREPARE;

	if (refused)
		refuse(a, result, why->text);
	go_on(a, refused);
}

/*
 * 0: they are kept, or it is seen when it is dispatched, as of a log that is not in use and that
 * nobody has looked at yet; 1: on_kept() is called. Those of executors and of changes are for the
 * log that all share.
 */
static int keep_policies(struct ahead *a)
{
	struct daemon *daemon = a->c->daemon;
	const struct keeping_job job = {
		.base = daemon->base,
		.compiling = a->amending ? a->amending : a->compiling,
		.log = a->op == REQUEST_PREPARE ? a->log : daemon->log,
		.uid = a->c->peer.ucred.uid,
		.done = on_kept,
		.context = a,
	};
	struct failure failure = {};

	if (a->op == REQUEST_DECIDE || !a->compiling || !job.log ||
	    logs_writable(job.log, &failure) < 0)
		return 0;
	return keeping_start(&job, &a->keeping, &failure) > 0;
}

static void on_writable(int result, void *context)
{
	struct ahead *a = context;
	struct failure failure = {};

	a->waiting = NULL;
	if (result < 0) {
		(void)logs_unwritable(a->log, result, &failure);
		refuse(a, result, failure.text);
	}
	if (result < 0 || keep_policies(a) == 0)
		go_on(a, result < 0);
}

/*
 * 0: there is no need to, or no memory: then it is seen when it is dispatched; 1: on_writable() or
 * on_kept() is called.
 */
static int wait_for_log(struct ahead *a)
{
	if (a->log && logs_when_writable(a->log, on_writable, a, &a->waiting) > 0)
		return 1;
	return keep_policies(a);
}

static void on_names(void *context, int result, const char *data, size_t size,
		     struct errand_fds *fds, const struct failure *why)
{
	struct ahead *a = context;
	const struct connection *c = a->c;
	bool refused;

	(void)fds;
	a->errand = NULL;
	if (result == 0)
		result = names_learn(&c->daemon->names, a->questions, data, size,
				     clock_nsec(CLOCK_MONOTONIC));
	/* For root it was only about what to call somebody. */
	refused = result < 0 && !c->peer.root;
	if (refused)
		refuse(a, result, why->text[0] ? why->text : "what looks users up makes no sense");
	if (refused || wait_for_log(a) == 0)
		go_on(a, refused);
}

/* 0: they are known; 1: on_names(), on_writable() or on_kept() is called. */
static int ask_for_names(struct ahead *a, struct failure *failure)
{
	const struct errand_job job = {
		.what = "what looks users up",
		.uid = a->c->peer.ucred.uid,
		.seconds = AHEAD_SECONDS,
		.work = look_up,
		.done = on_names,
		.context = a,
	};
	int r = add_questions(a);

	if (r < 0)
		return failure_set(failure, r, "%m");
	if (!a->questions ||
	    names_know(&a->c->daemon->names, a->questions, clock_nsec(CLOCK_MONOTONIC)))
		return wait_for_log(a);
	r = errand_start(a->c->daemon->base, &job, &a->errand, failure);
	return r < 0 ? r : 1;
}

static void charge(const struct ahead *a, uint64_t took)
{
	if (a->c->account)
		account_charge(a->c->account, (int64_t)took, clock_nsec(CLOCK_MONOTONIC));
}

static void on_compared(void *context, int result, const struct failure *why)
{
	struct ahead *a = context;
	struct failure failure = *why;

	charge(a, comparing_took(a->comparing));
	if (result == 0)
		result = ask_for_names(a, &failure);
	if (result < 0)
		refuse(a, result, failure.text);
	if (result <= 0)
		go_on(a, result < 0);
}

/*
 * With its policies. 0: nothing is missing; 1: on_compared() or one of those that come after it is
 * called.
 */
static int ask_further(struct ahead *a, struct failure *failure)
{
	const struct comparing_job job = {
		.base = a->c->daemon->base,
		.approvals = approvals_required(a->c->daemon),
		.compiling = a->compiling,
		.uid = a->c->peer.ucred.uid,
		.done = on_compared,
		.context = a,
	};
	int r = comparing_start(&job, &a->comparing, failure);

	return r == 0 ? ask_for_names(a, failure) : r;
}

static void refuse_policy(const struct ahead *a, int error, const char *said,
			  struct failure *failure)
{
	_cleanup_(freep) char *message = said ? strdup(said) : NULL;

	if (!a->c->peer.root)
		(void)member_hide_diagnostics(a->policy, error, &message, failure);
	if (a->op == REQUEST_RELOAD)
		executors_refuse(a->c->daemon->executors, error, message, failure);
	refuse(a, error, message && *message ? message : failure->text);
}

static void on_amended(void *context, int result, const char *message, const struct failure *why)
{
	struct ahead *a = context;
	struct failure failure = *why;

	charge(a, compiling_took(a->amending));
	if (result < 0) {
		refuse_policy(a, result, message, &failure);
	} else {
		result = ask_further(a, &failure);
		if (result < 0)
			refuse(a, result, failure.text);
	}
	if (result <= 0)
		go_on(a, result < 0);
}

static int wish_amended(struct ahead *a, const struct policy_use *use,
			struct compiling_wishes *wishes, struct failure *failure)
{
	_cleanup_(freep) char *path = NULL;
	char **active = NULL;
	int r = indirect_policy_make(DAEMON_INDIRECTIONS, use->policy, a->indirections, &path,
				     &active, failure);

	if (r == 0 && path)
		r = compiling_wish(wishes, path, NULL, a->observe);
	compiled_strings_free(active);
	return r;
}

/*
 * Has the policy compiled that an execution runs under where protected names of its work directory
 * lead elsewhere. 0: there is none, or it is there; 1: on_amended() is called.
 */
static int ask_for_amended(struct ahead *a, struct failure *failure)
{
	const struct policy_use *use = compiling_use(a->compiling, 0);
	const struct compiling_job job = {
		.base = a->c->daemon->base,
		.policies = a->c->daemon->policies,
		.uid = a->c->peer.ucred.uid,
		.done = on_amended,
		.context = a,
	};
	struct compiling_wishes wishes = {};
	int r = 0;

	if (a->op == REQUEST_PREPARE && use && a->indirections)
		r = wish_amended(a, use, &wishes, failure);
	if (r == 0 && wishes.count > 0)
		return compiling_start(&job, &wishes, &a->amending, failure);
	compiling_wishes_release(&wishes);
	return r;
}

static int ask_with_policy(struct ahead *a, struct failure *failure)
{
	int r = ask_for_amended(a, failure);

	return r == 0 ? ask_further(a, failure) : r;
}

static void on_compiled(void *context, int result, const char *message, const struct failure *why)
{
	struct ahead *a = context;
	struct failure failure = *why;

	charge(a, compiling_took(a->compiling));
	if (result < 0) {
		refuse_policy(a, result, message, &failure);
	} else {
		result = ask_with_policy(a, &failure);
		if (result < 0)
			refuse(a, result, failure.text);
	}
	if (result <= 0)
		go_on(a, result < 0);
}

/* 0: nothing is missing; 1: on_compiled() or one of those that come after it is called. */
static int ask(struct ahead *a, struct failure *failure)
{
	const struct compiling_job job = {
		.base = a->c->daemon->base,
		.policies = a->c->daemon->policies,
		.uid = a->c->peer.ucred.uid,
		.done = on_compiled,
		.context = a,
	};
	int r = 0;

	if (a->wishes.count > 0)
		r = compiling_start(&job, &a->wishes, &a->compiling, failure);
	return r == 0 ? ask_with_policy(a, failure) : r;
}

static void on_read(void *context)
{
	struct ahead *a = context;
	struct failure failure = {};
	int r = gathering_wish(a->gathering, &a->wishes);

	r = r < 0 ? failure_set(&failure, r, "%m") : ask(a, &failure);
	if (r < 0)
		refuse(a, r, failure.text);
	if (r <= 0)
		go_on(a, r < 0);
}

/* 0: there is nothing to be loaded, which do_reload() reports; 1: on_read() is called. */
static int ask_for_file(struct ahead *a, struct failure *failure)
{
	struct daemon *daemon = a->c->daemon;
	int r;

	if (!daemon->executors || !a->c->peer.root)
		return 0;
	r = executors_gather(daemon->executors, on_read, a, &a->gathering, failure);
	return r < 0 ? r : 1;
}

static int look_at_log(const void *context, FILE *to, struct errand_fds *fds,
		       struct failure *failure)
{
	const struct ahead *a = context;

	return logs_look(a->c->daemon->logs, a->directory, to, &fds->fd[0], failure);
}

/* Opened here, it can be waited for until it can be written, and the policy kept beside it. */
static void on_log_seen(void *context, int result, const char *data, size_t size,
			struct errand_fds *fds, const struct failure *why)
{
	struct ahead *a = context;
	struct failure failure = *why;

	a->errand = NULL;
	if (result == -ETIMEDOUT)
		failure_replace(&failure, result,
				"the file system of the log in %s does not answer", a->directory);
	if (result == 0)
		result = logs_open(a->c->daemon->logs, data, size, TAKE_FD(fds->fd[0]), &a->log,
				   &failure);
	if (result == 0)
		result = ask(a, &failure);
	if (result < 0)
		refuse(a, result, failure.text);
	if (result <= 0)
		go_on(a, result < 0);
}

/*
 * The file system on which a log is that root has named may not answer. 1: on_log_seen() is called.
 * In an account apart: those that wait for it keep nothing of root's back.
 */
static int ask_for_log(struct ahead *a, struct failure *failure)
{
	const struct errand_job job = {
		.what = "what looks at the log's directory",
		.uid = READER_UID,
		.seconds = AHEAD_SECONDS,
		.work = look_at_log,
		.done = on_log_seen,
		.context = a,
	};
	int r = errand_start(a->c->daemon->base, &job, &a->errand, failure);

	return r < 0 ? r : 1;
}

/* ------------------------------------------------------------------------------------------ */

int ahead_start(struct connection *c, json_t **message, struct protocol_fds *fds,
		ahead_ready *ready, struct failure *failure)
{
	_cleanup_(ahead_freep) struct ahead *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return failure_set(failure, ENOMEM, "%m");
	a->c = c;
	a->daemon = getpid();
	a->ready = ready;
	a->soon = evtimer_new(c->daemon->base, on_soon, a);
	r = a->soon ? want(a, *message) : -ENOMEM;
	if (r < 0)
		return failure_set(failure, r, "%m");
	r = a->op == REQUEST_RELOAD ? ask_for_file(a, failure)
	    : a->directory	    ? ask_for_log(a, failure)
				    : ask(a, failure);
	a->fds = *fds;
	if (r == 0)
		r = check_places(a);
	if (r <= 0) {
		a->fds.count = 0;
		return r;
	}
	a->message = *message;
	*message = NULL;
	fds->count = 0;
	c->ahead = TAKE_PTR(a);
	return 1;
}

void ahead_cancel(struct connection *c)
{
	struct ahead *a = c->ahead;

	if (!a)
		return;
	errand_cancel(a->errand);
	ahead_free(a);
	c->ahead = NULL;
}
