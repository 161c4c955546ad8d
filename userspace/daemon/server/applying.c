/* SPDX-License-Identifier: Apache-2.0 */
/* Serves the request that puts executions under another policy. */
#include "daemon/server/applying.h"

#include "base/cleanup.h"
#include "control/request.h"
#include "daemon/execution/apply.h"
#include "daemon/host/turn.h"
#include "daemon/server/server.h"

struct applying {
	LIST_ENTRY(applying) link;
	struct connection *c; /* NULL: whoever has asked is gone */
	struct apply_request request;
	struct apply *apply;
	struct event *again;
};

static void applying_free(struct applying *a)
{
	LIST_REMOVE(a, link);
	if (a->c)
		a->c->applying = NULL;
	if (a->apply)
		apply_free(a->apply);
	if (a->again)
		event_free(a->again);
	apply_request_release(&a->request);
	free(a);
}

DEFINE_CLEANUP(struct applying *, applying_free, applying_freep)

static void answer(struct connection *c, const struct apply_result *result)
{
	connection_answer(
		c,
		json_pack("{s:b,s:s,s:s,s:I,s:I,s:o}", "ok", 1, "policy", result->name, "digest",
			  result->digest, "changed", (json_int_t)result->changed, "unchanged",
			  (json_int_t)result->unchanged, "wider", protocol_strings(result->wider)),
		NULL, 0);
}

/* 1: there is more to do, in a turn that others have had one before. */
static int go_on(struct applying *a)
{
	_cleanup_(apply_result_release) struct apply_result result = {};
	struct failure failure = {};
	int r = apply_go_on(a->apply, APPLY_AT_A_TIME, &result, &failure);

	if (r > 0) {
		turn_of_its_own(a->again);
	} else if (a->c && r < 0) {
		connection_refuse(a->c, r, failure.text);
	} else if (a->c) {
		answer(a->c, &result);
	}
	return r;
}

static void on_again(evutil_socket_t fd, short what, void *context)
{
	TURN("policy apply");
	struct applying *a = context;

	(void)fd;
	(void)what;
	if (go_on(a) <= 0)
		applying_free(a);
}

void applying_begin(struct connection *c, json_t *message)
{
	_cleanup_(applying_freep) struct applying *a = calloc(1, sizeof(*a));
	_cleanup_(freep) char *text = NULL;
	struct failure failure = {};
	int r;

	if (!a)
		return connection_refuse(c, ENOMEM, "no memory");
	LIST_INSERT_HEAD(&c->daemon->applying, a, link);
	r = apply_request_parse(message, &a->request, &failure);
	if (r == 0)
		r = apply_begin(c->daemon, &a->request, &c->peer.ucred, &a->apply, &text, &failure);
	if (r < 0)
		return connection_refuse(c, r, text && *text ? text : failure.text);
	a->again = evtimer_new(c->daemon->base, on_again, a);
	if (!a->again)
		return connection_refuse(c, ENOMEM, "no memory");
	a->c = c;
	if (go_on(a) > 0)
		c->applying = TAKE_PTR(a);
}

void applying_forget(struct connection *c)
{
	if (!c->applying)
		return;
	c->applying->c = NULL;
	c->applying = NULL;
}

void applying_end_all(struct daemon *daemon)
{
	while (!LIST_EMPTY(&daemon->applying))
		applying_free(LIST_FIRST(&daemon->applying));
}
