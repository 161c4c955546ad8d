/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles policies in processes beside the loop, once for all who wait for the same one. */
#include "daemon/policy/compiling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/parcel.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/errand.h"
#include "daemon/privsep/errand_time.h"

/* A large policy takes seconds on a slow machine; a file system that does not answer takes all. */
#define COMPILE_SECONDS 60
/* How an answer begins. */
#define COMPILED  'c'
#define UNCHANGED 'u'
/* The tables, and the texts of rules beside them. */
#define COMPILED_MAX ((size_t)CORDON_MAX_PAGES * CORDON_PAGE_SIZE + ERRAND_DATA_MAX)

struct compiling {
	LIST_ENTRY(compiling) link; /* of those that miss one */
	bool listed;
	struct event *again; /* it goes on, or looks whether another has it compiled */
	struct errand *errand;
	struct compiling_job job;
	struct compiling_wishes wishes;
	size_t at;		       /* those before it are there */
	const struct policy_use *last; /* what the one at hand was; NULL: none, or not resident */
	uint64_t took;
};

static LIST_HEAD(, compiling) line = LIST_HEAD_INITIALIZER(line);

int compiling_wish(struct compiling_wishes *wishes, const char *policy, const char *purpose,
		   bool observe)
{
	struct compiling_wish *larger =
		reallocarray(wishes->list, wishes->count + 1, sizeof(*larger));
	_cleanup_(freep) char *copy = strdup(policy);
	_cleanup_(freep) char *along = purpose ? strdup(purpose) : NULL;

	if (larger)
		wishes->list = larger;
	if (!larger || !copy || (purpose && !along))
		return -ENOMEM;
	larger[wishes->count++] = (struct compiling_wish){
		.policy = TAKE_PTR(copy),
		.purpose = TAKE_PTR(along),
		.observe = observe,
	};
	return 0;
}

void compiling_wishes_release(struct compiling_wishes *wishes)
{
	for (size_t i = 0; i < wishes->count; i++) {
		free(wishes->list[i].policy);
		free(wishes->list[i].purpose);
	}
	free(wishes->list);
	*wishes = (struct compiling_wishes){};
}

/* --- the line ----------------------------------------------------------------------------- */

static void leave_line(struct compiling *c)
{
	if (c->listed)
		LIST_REMOVE(c, link);
	c->listed = false;
}

static bool same_policy(const struct compiling *a, const struct compiling *b)
{
	const struct compiling_wish *first = &a->wishes.list[a->at],
				    *second = &b->wishes.list[b->at];

	return a->job.policies == b->job.policies && first->observe == second->observe &&
	       strcmp(first->policy, second->policy) == 0;
}

static bool is_being_compiled(const struct compiling *c)
{
	const struct compiling *other;

	LIST_FOREACH(other, &line, link)
	if (other != c && other->errand && same_policy(other, c))
		return true;
	return false;
}

/*
 * It is compiled, or will not be by this one: whoever waits for it looks again.
 */
static void tell_line(struct compiling *c)
{
	struct compiling *other;

	leave_line(c);
	LIST_FOREACH(other, &line, link)
	if (!other->errand && same_policy(other, c))
		turn_of_its_own(other->again);
}

/* --- one after the other ------------------------------------------------------------------ */

static int write_tables(const void *context, FILE *to, struct failure *failure)
{
	const struct compiling *c = context;
	const struct compiling_wish *wish = &c->wishes.list[c->at];

	if (c->last && policies_is_unchanged(c->last, wish->policy, wish->observe)) {
		(void)fputc(UNCHANGED, to);
		return 0;
	}
	(void)fputc(COMPILED, to);
	return policies_prepare(c->job.policies, wish->policy, wish->observe, to, failure);
}

/* In a process of its own. */
static int compile(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	(void)fds;
	return errand_write_timed(to, write_tables, context, failure);
}

static int go_on(struct compiling *c, struct failure *failure);

/* It stays until compiling_free(), and whoever gets this policy meanwhile gets that. */
static int have(struct compiling *c, struct compiling_wish *wish, const struct policy_use *use)
{
	wish->use = use;
	wish->given = calloc(1, sizeof(*wish->given));
	if (!wish->given)
		return -ENOMEM;
	*wish->given = (struct policies_given){
		.name_or_path = wish->policy,
		.observe = wish->observe,
		.use = use,
	};
	policies_give(c->job.policies, wish->given);
	return 0;
}

static void drop_last(struct compiling *c)
{
	if (c->last)
		policies_put(c->job.policies, c->last);
	c->last = NULL;
}

static int take_answer(struct compiling *c, struct compiling_wish *wish, struct parcel *from,
		       struct failure *failure)
{
	const char *kind = parcel_take(from, 1);
	const struct policy_use *use = NULL;
	int r = 0;

	if (!kind || (*kind == UNCHANGED && !c->last) || (*kind != UNCHANGED && *kind != COMPILED))
		return failure_set(failure, EPROTO,
				   "internal error: the worker that reads policy %s sent a "
				   "malformed reply",
				   wish->policy);
	if (*kind == UNCHANGED) {
		use = TAKE_PTR(c->last);
		policies_note_unchanged(use, wish->policy, wish->observe);
	} else {
		r = policies_take(c->job.policies, wish->policy, wish->observe, from, &use,
				  failure);
	}
	if (r == 0 && have(c, wish, use) < 0)
		r = failure_set(failure, ENOMEM, "%m");
	return r;
}

static void on_compiled(void *context, int result, const char *data, size_t size,
			struct errand_fds *fds, const struct failure *why)
{
	struct compiling *c = context;
	struct compiling_wish *wish = &c->wishes.list[c->at];
	_cleanup_(freep) char *message = NULL;
	struct parcel from = {data, size};
	struct failure failure = *why;

	(void)fds;
	c->errand = NULL;
	tell_line(c);
	c->took += errand_take_time(&from);
	if (result < 0) {
		(void)parcel_take(&from, 1);
		(void)parcel_take_text(&from, &message);
	} else {
		result = take_answer(c, wish, &from, &failure);
	}
	if (result == -ETIMEDOUT)
		failure_replace(&failure, result,
				"policy %s: the file system that it is on does not answer",
				wish->policy);
	drop_last(c);
	if (result == 0)
		turn_of_its_own(c->again);
	else
		c->job.done(c->job.context, result, message, &failure);
}

static void on_again(evutil_socket_t fd, short what, void *context)
{
	TURN("request");
	struct compiling *c = context;
	struct failure failure = {};
	int r = c->errand ? 1 : go_on(c, &failure);

	(void)fd;
	(void)what;
	if (r <= 0)
		c->job.done(c->job.context, r, NULL, &failure);
}

static int compile_it(struct compiling *c, struct failure *failure)
{
	const struct errand_job job = {
		.what = "what compiles the policy",
		.uid = c->job.uid,
		.seconds = COMPILE_SECONDS,
		.work = compile,
		.done = on_compiled,
		.context = c,
		.most = COMPILED_MAX,
	};

	if (!c->again)
		c->again = evtimer_new(c->job.base, on_again, c);
	if (!c->again)
		return failure_set(failure, ENOMEM, "%m");
	if (!c->listed)
		LIST_INSERT_HEAD(&line, c, link);
	c->listed = true;
	drop_last(c);
	c->last = policies_last(c->job.policies, c->wishes.list[c->at].policy,
				c->wishes.list[c->at].observe);
	return is_being_compiled(c) ? 0 : errand_start(c->job.base, &job, &c->errand, failure);
}

/* 0: none is missing; 1: on_compiled() or on_again() is called. */
static int go_on(struct compiling *c, struct failure *failure)
{
	for (; c->at < c->wishes.count; c->at++) {
		struct compiling_wish *wish = &c->wishes.list[c->at];
		const struct policy_use *use;
		int r;

		if (wish->given)
			continue;
		use = wish->use ? wish->use
				: policies_find(c->job.policies, wish->policy, wish->observe);
		if (use) {
			r = have(c, wish, use);
			if (r < 0)
				return failure_set(failure, r, "%m");
			continue;
		}
		r = compile_it(c, failure);
		return r < 0 ? r : 1;
	}
	leave_line(c);
	return 0;
}

/* ------------------------------------------------------------------------------------------ */

int compiling_start(const struct compiling_job *job, struct compiling_wishes *wishes,
		    struct compiling **ret_compiling, struct failure *failure)
{
	_cleanup_(compiling_freep) struct compiling *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		compiling_wishes_release(wishes);
		return failure_set(failure, ENOMEM, "%m");
	}
	c->job = *job;
	c->wishes = *wishes;
	*wishes = (struct compiling_wishes){};
	r = go_on(c, failure);
	if (r >= 0)
		*ret_compiling = TAKE_PTR(c);
	return r;
}

uint64_t compiling_took(const struct compiling *compiling)
{
	return compiling->took;
}

const struct policy_use *compiling_use(const struct compiling *compiling, size_t index)
{
	return compiling && index < compiling->wishes.count ? compiling->wishes.list[index].use
							    : NULL;
}

const char *compiling_purpose(const struct compiling *compiling, size_t index)
{
	return compiling && index < compiling->wishes.count ? compiling->wishes.list[index].purpose
							    : NULL;
}

void compiling_free(struct compiling *c)
{
	if (!c)
		return;
	errand_cancel(c->errand);
	if (c->listed && c->errand)
		tell_line(c);
	leave_line(c);
	if (c->again)
		event_free(c->again);
	drop_last(c);
	for (size_t i = 0; i < c->wishes.count; i++) {
		if (c->wishes.list[i].given)
			policies_withdraw(c->wishes.list[i].given);
		free(c->wishes.list[i].given);
		if (c->wishes.list[i].use)
			policies_put(c->job.policies, c->wishes.list[i].use);
	}
	compiling_wishes_release(&c->wishes);
	free(c);
}
