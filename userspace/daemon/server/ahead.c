/* SPDX-License-Identifier: Apache-2.0 */
/* What requests need to know of the host's users, asked for by processes of their own. */
#include "daemon/server/ahead.h"

#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/request.h"
#include "daemon/host/process.h"
#include "daemon/peer/member.h"
#include "daemon/privsep/errand.h"
#include "daemon/privsep/reader_process.h"
#include "daemon/server/approve.h"

struct ahead {
	struct connection *c;
	pid_t daemon;
	struct errand *errand;
	json_t *message;
	struct protocol_fds fds;
	char **questions; /* see names.h */
	ahead_ready *ready;
};

static void ahead_free(struct ahead *a)
{
	if (!a)
		return;
	json_decref(a->message);
	protocol_fds_close(&a->fds);
	protocol_strings_free(a->questions);
	free(a);
}
DEFINE_CLEANUP(struct ahead *, ahead_free, ahead_freep)

/* --- which questions ---------------------------------------------------------------------- */

static int add_question(char ***list, const char *text)
{
	size_t count = 0;
	char **larger;

	while (*list && (*list)[count])
		count++;
	larger = reallocarray(*list, count + 2, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	*list = larger;
	larger[count + 1] = NULL;
	larger[count] = strdup(text);
	return larger[count] ? 0 : -ENOMEM;
}

static int add_account(char ***list, uint32_t uid)
{
	char question[NAMES_ACCOUNT_SIZE];

	names_account(uid, question);
	return add_question(list, question);
}

/* Whom the policy lets run something. One that cannot be used is refused when it is dispatched. */
static int add_run_by(const struct connection *c, const char *policy, char ***list)
{
	const struct policy_use *use;
	struct failure ignored = {};
	char *message = NULL;
	int r = policies_get(c->daemon->policies, policy, false, &use, &message, &ignored);

	free(message);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (char **name = use->policy->run_by; r == 0 && name && *name; name++)
		r = add_question(list, *name);
	policies_put(c->daemon->policies, use);
	return r;
}

static int questions_of_prepare(const struct connection *c, json_t *message, char ***list)
{
	struct prepare_request request;
	struct failure ignored = {};
	int r;

	if (c->peer.root || prepare_request_parse(message, &request, &ignored) < 0)
		return 0;
	r = member_check_request(&c->peer, &request, &ignored) < 0
		    ? 0
		    : add_run_by(c, request.policy, list);
	if (r == 0 && request.home)
		r = add_account(list, c->peer.ucred.uid);
	prepare_request_release(&request);
	return r;
}

/* The record of a decision says who it was by name. */
static int questions_of_decision(const struct connection *c, char ***list)
{
	uint32_t uid;

	if (process_login(c->peer.ucred.pid, &uid) < 0)
		uid = c->peer.ucred.uid;
	return add_account(list, uid);
}

static int questions_of(const struct connection *c, json_t *message, char ***list)
{
	struct failure ignored = {};
	enum request_op op;
	int r = 0;

	if (request_op(message, &op, &ignored) < 0)
		return 0;
	if (op == REQUEST_PREPARE)
		return questions_of_prepare(c, message, list);
	if (op != REQUEST_DECIDE && op != REQUEST_APPROVALS)
		return 0;
	if (!c->peer.root)
		r = add_question(list, "@" APPROVE_GROUP);
	return r == 0 && op == REQUEST_DECIDE ? questions_of_decision(c, list) : r;
}

/* --- in a process of its own -------------------------------------------------------------- */

/* As whoever asks: he may know of himself what he can find out anyway, and what answers him has no rights over others. */
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

/* --- the answer --------------------------------------------------------------------------- */

/* What was refused is on record, as it would be if it had been dispatched. */
static void refuse(struct connection *c, json_t *message, int error, const char *text)
{
	const char *policy = json_string_value(json_object_get(message, "policy"));

	if (strcmp(json_string_value(json_object_get(message, "op")), "prepare") == 0) {
		(void)logs_append(c->daemon->log, audit_record_refused(policy ? policy : "", text,
								       c->peer.ucred.uid,
								       clock_nsec(CLOCK_REALTIME)));
		daemon_flush_soon(c->daemon);
	}
	connection_refuse(c, error, text);
}

static void on_answer(void *context, int result, const char *data, size_t size,
		      struct errand_fds *fds, const struct failure *why)
{
	_cleanup_(ahead_freep) struct ahead *a = context;
	struct connection *c = a->c;
	struct daemon *daemon = c->daemon;

	(void)fds;
	c->ahead = NULL;
	if (result == 0)
		result = names_learn(&daemon->names, a->questions, data, size,
				     clock_nsec(CLOCK_MONOTONIC));
	/* For root it was only about what to call somebody. */
	if (result < 0 && !c->peer.root) {
		refuse(c, a->message, result,
		       why->text[0] ? why->text : "what looks users up makes no sense");
		a->ready(c, NULL, &a->fds);
	} else {
		a->ready(c, a->message, &a->fds);
	}
	names_forget_missing(&daemon->names);
}

/* ------------------------------------------------------------------------------------------ */

int ahead_start(struct connection *c, json_t **message, struct protocol_fds *fds,
		ahead_ready *ready, struct failure *failure)
{
	_cleanup_(ahead_freep) struct ahead *a = calloc(1, sizeof(*a));
	const struct errand_job job = {
		.what = "what looks users up",
		.uid = c->peer.ucred.uid,
		.seconds = AHEAD_SECONDS,
		.work = look_up,
		.done = on_answer,
		.context = a,
	};
	int r = a ? questions_of(c, *message, &a->questions) : -ENOMEM;

	if (r < 0)
		return failure_set(failure, r, "%m");
	if (!a->questions ||
	    names_know(&c->daemon->names, a->questions, clock_nsec(CLOCK_MONOTONIC)))
		return 0;
	a->c = c;
	a->daemon = getpid();
	a->ready = ready;
	r = errand_start(c->daemon->base, &job, &a->errand, failure);
	if (r < 0)
		return r;
	a->message = *message;
	*message = NULL;
	a->fds = *fds;
	fds->count = 0;
	c->ahead = TAKE_PTR(a);
	return 1;
}

void ahead_cancel(struct connection *c)
{
	if (!c->ahead)
		return;
	errand_cancel(c->ahead->errand);
	ahead_free(c->ahead);
	c->ahead = NULL;
}
