/* SPDX-License-Identifier: Apache-2.0 */
/* Serves the request that asks for what was refused. */
#include "daemon/server/propose.h"

#include "control/decide_request.h"
#include "daemon/execution/proposal.h"
#include "daemon/privsep/errand.h"
#include "daemon/server/approve.h"

/* Two policies are compiled and compared. */
#define PROPOSE_SECONDS 60

struct propose_pending {
	struct connection *connection;
	struct proposal proposal;
	struct errand *errand;
};

static void pending_free(struct propose_pending *p)
{
	p->connection->propose_pending = NULL;
	proposal_release(p->connection->daemon, &p->proposal);
	free(p);
}

static void answer(struct connection *c, json_t *entry, uint64_t left)
{
	/* Who may decide sees all of it in the list. */
	if (json_dumpb(entry, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII) >
	    PROTOCOL_MAX_PACKET - 256)
		json_object_set_new(entry, "witnesses", json_array());
	connection_answer(
		c, json_pack("{s:b,s:o,s:I}", "ok", 1, "approval", entry, "left", (json_int_t)left),
		NULL, 0);
}

static int work(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	const struct propose_pending *p = context;

	(void)fds;
	return proposal_work(p->connection->daemon, &p->proposal, to, failure);
}

static void on_done(void *context, int result, const char *data, size_t size,
		    struct errand_fds *fds, const struct failure *why)
{
	struct propose_pending *p = context;
	struct connection *c = p->connection;
	struct failure failure = *why;
	json_t *entry = NULL;
	uint64_t left = 0;

	(void)fds;
	if (result == 0)
		result = proposal_put(c->daemon, &p->proposal, data, size, &entry, &left, &failure);
	if (result < 0)
		connection_refuse(c, result, failure.text);
	else
		answer(c, entry, left);
	pending_free(p);
}

static int begin(struct connection *c, const struct propose_request *request,
		 struct failure *failure)
{
	struct propose_pending *p = calloc(1, sizeof(*p));
	struct errand_job job = {
		.what = "what compiles and compares policies",
		.uid = c->peer.ucred.uid,
		.seconds = PROPOSE_SECONDS,
		.work = work,
		.done = on_done,
		.context = p,
		.most = PROPOSAL_DATA_MAX,
	};
	int r;

	if (!p)
		return failure_set(failure, ENOMEM, "%m");
	p->connection = c;
	r = proposal_begin(c->daemon, request, &c->peer, &p->proposal, failure);
	if (r == 0)
		r = errand_start(c->daemon->base, &job, &p->errand, failure);
	if (r < 0)
		pending_free(p);
	else
		c->propose_pending = p;
	return r;
}

void propose(struct connection *c, json_t *message)
{
	struct propose_request request;
	struct failure failure = {};
	int r;

	if (approve_not_required(c) < 0)
		return;
	r = propose_request_parse(message, &request, &failure);
	if (r == 0)
		r = begin(c, &request, &failure);
	if (r < 0)
		connection_refuse(c, r, failure.text);
}

void propose_forget(struct connection *c)
{
	if (!c->propose_pending)
		return;
	errand_cancel(c->propose_pending->errand);
	pending_free(c->propose_pending);
}
