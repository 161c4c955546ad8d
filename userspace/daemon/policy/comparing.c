/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what was compiled beside the loop with what is approved of its name, there as well. */
#include "daemon/policy/comparing.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/parcel.h"
#include "daemon/policy/comparison.h"
#include "daemon/privsep/errand.h"
#include "daemon/privsep/errand_time.h"

/* Whoever asks waits for it: what is not told by then, the loop tries for a moment. */
#define COMPARE_SECONDS 60

struct comparing {
	struct comparing_job job;
	struct errand *errand;
	size_t at; /* those before it are compared */
	uint64_t took;
};

static int write_comparison(const void *context, FILE *to, struct failure *failure)
{
	const struct comparing *c = context;

	return approvals_write_comparison(c->job.approvals,
					  compiling_use(c->job.compiling, c->at)->policy,
					  compiling_purpose(c->job.compiling, c->at),
					  clock_nsec(CLOCK_REALTIME), to, failure);
}

/* In a process of its own. What it took is its user's. */
static int compare(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	(void)fds;
	return errand_write_timed(to, write_comparison, context, failure);
}

static int go_on(struct comparing *c, struct failure *failure);

/* What could not be compared is asked for as what is wider. */
static void on_compared(void *context, int result, const char *data, size_t size,
			struct errand_fds *fds, const struct failure *why)
{
	struct comparing *c = context;
	struct parcel from = {data, size};
	struct failure failure = {};

	(void)fds;
	(void)why;
	c->errand = NULL;
	c->took += errand_take_time(&from);
	if (result == 0)
		(void)approvals_take_comparison(c->job.approvals, from.at, from.left);
	c->at++;
	result = go_on(c, &failure);
	if (result <= 0)
		c->job.done(c->job.context, result, &failure);
}

/* 0: nothing is left to be compared; 1: on_compared() is called. */
static int go_on(struct comparing *c, struct failure *failure)
{
	const struct errand_job job = {
		.what = "what compares policies",
		.uid = c->job.uid,
		.seconds = COMPARE_SECONDS,
		.work = compare,
		.done = on_compared,
		.context = c,
	};
	const struct policy_use *use;
	int r;

	while ((use = compiling_use(c->job.compiling, c->at)) &&
	       !approvals_must_compare(c->job.approvals, use->policy,
				       compiling_purpose(c->job.compiling, c->at),
				       clock_nsec(CLOCK_REALTIME)))
		c->at++;
	if (!use)
		return 0;
	r = errand_start(c->job.base, &job, &c->errand, failure);
	return r < 0 ? r : 1;
}

int comparing_start(const struct comparing_job *job, struct comparing **ret_comparing,
		    struct failure *failure)
{
	_cleanup_(comparing_freep) struct comparing *c = NULL;
	int r;

	if (!job->approvals || !job->compiling)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return failure_set(failure, ENOMEM, "%m");
	c->job = *job;
	r = go_on(c, failure);
	if (r > 0)
		*ret_comparing = TAKE_PTR(c);
	return r;
}

uint64_t comparing_took(const struct comparing *comparing)
{
	return comparing->took;
}

void comparing_free(struct comparing *c)
{
	if (!c)
		return;
	errand_cancel(c->errand);
	free(c);
}
