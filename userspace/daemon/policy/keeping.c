/* SPDX-License-Identifier: Apache-2.0 */
/* Puts policies beside a log, in a process of its own. */
#include "daemon/policy/keeping.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/privsep/errand.h"

/* Whoever asks waits for it. */
#define KEEP_SECONDS 10

struct keeping {
	struct keeping_job job;
	struct errand *errand;
};

/* The next that is to be kept, from *at on, or NULL. */
static const struct compiled_policy *next_of(const struct keeping *k, size_t *at)
{
	const struct policy_use *use;

	while ((use = compiling_use(k->job.compiling, (*at)++)) != NULL)
		if (!logs_has_policy(k->job.log, use->policy))
			return use->policy;
	return NULL;
}

/* In a process of its own. */
static int keep(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	const struct keeping *k = context;
	const struct compiled_policy *policy;
	size_t at = 0;
	int r = 0;

	(void)to;
	(void)fds;
	while (r == 0 && (policy = next_of(k, &at)) != NULL)
		r = logs_put_policy(k->job.log, policy, failure);
	return r;
}

static void on_kept(void *context, int result, const char *data, size_t size,
		    struct errand_fds *fds, const struct failure *why)
{
	struct keeping *k = context;
	const struct compiled_policy *policy;
	struct failure failure = *why;
	size_t at = 0;

	(void)data;
	(void)size;
	(void)fds;
	k->errand = NULL;
	while (result == 0 && (policy = next_of(k, &at)) != NULL)
		logs_note_policy(k->job.log, policy);
	if (result == -ETIMEDOUT)
		failure_replace(&failure, result,
				"the file system of the log in %s does not answer",
				logs_directory(k->job.log));
	k->job.done(k->job.context, result, &failure);
}

int keeping_start(const struct keeping_job *job, struct keeping **ret_keeping,
		  struct failure *failure)
{
	_cleanup_(keeping_freep) struct keeping *k = calloc(1, sizeof(*k));
	const struct errand_job errand = {
		.what = "what keeps the policy beside the log",
		.uid = job->uid,
		.seconds = KEEP_SECONDS,
		.work = keep,
		.done = on_kept,
		.context = k,
	};
	size_t at = 0;
	int r;

	if (!k)
		return failure_set(failure, ENOMEM, "%m");
	k->job = *job;
	if (!next_of(k, &at))
		return 0;
	r = errand_start(job->base, &errand, &k->errand, failure);
	if (r < 0)
		return r;
	*ret_keeping = TAKE_PTR(k);
	return 1;
}

void keeping_free(struct keeping *k)
{
	if (!k)
		return;
	errand_cancel(k->errand);
	free(k);
}
