/* SPDX-License-Identifier: Apache-2.0 */
/* Has entries looked up again that name what was not there: a mount may have come late. */
#include <string.h>

#include "adopt/lookup.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/host/turn.h"
#include "daemon/privsep/errand.h"

#define RETRY_NSEC (5 * NSEC_PER_SEC)
/* Directories and policies may lie where nobody answers. */
#define RETRY_SECONDS 60

static bool has_policy(const struct executors *x, const struct executor_entry *entry,
		       struct lookup *found)
{
	_cleanup_(fclosep) FILE *nowhere = NULL;
	struct failure ignored = {};

	if (entry->policy)
		return lookup_policy(found, entry->is, entry->policy->policy, x->daemon->gaps) == 0;
	nowhere = fopen("/dev/null", "we");
	return nowhere && policies_prepare(x->daemon->policies, entry->is->policy, false, nowhere,
					   &ignored) == 0;
}

static bool is_in_order(const struct executors *x, const struct executor_entry *entry)
{
	_cleanup_(lookup_release) struct lookup found;

	lookup_begin(&found);
	return has_policy(x, entry, &found) && lookup_names(&found, entry->is) == 0 &&
	       found.problem_count == 0;
}

/* In a process of its own. */
static int look(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	const struct executors *x = context;
	uint64_t in_order = 0;

	(void)fds;
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++)
		if (x->entries[i] && x->entries[i]->why && is_in_order(x, x->entries[i]))
			in_order |= 1ull << i;
	return fwrite(&in_order, sizeof(in_order), 1, to) == 1
		       ? 0
		       : failure_set(failure, EIO, "what was found cannot be told");
}

void executor_retry_later(struct executors *x)
{
	x->next_look = clock_nsec(CLOCK_MONOTONIC) + RETRY_NSEC;
}

static void on_looked(void *context, int result, const char *data, size_t size,
		      struct errand_fds *fds, const struct failure *failure)
{
	struct executors *x = context;

	(void)fds;
	(void)failure;
	x->looking = NULL;
	executor_retry_later(x);
	if (result < 0 || size != sizeof(x->found))
		return;
	memcpy(&x->found, data, sizeof(x->found));
	/* A reload looks everything up as well. */
	if (x->found && !x->reading && !x->daemon->leaving)
		executors_renew(x);
}

static bool misses_something(const struct executors *x)
{
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++)
		if (x->entries[i] && x->entries[i]->why)
			return true;
	return false;
}

void executor_retry(struct executors *x)
{
	const struct errand_job job = {
		.what = "what looks for what executors name",
		.seconds = RETRY_SECONDS,
		.work = look,
		.done = on_looked,
		.context = x,
	};
	struct failure ignored = {};

	if (x->looking || x->reading || x->daemon->leaving ||
	    clock_nsec(CLOCK_MONOTONIC) < x->next_look || (!x->unanswered && !misses_something(x)))
		return;
	executor_retry_later(x);
	if (x->unanswered) {
		executors_reload(x);
		return;
	}
	(void)errand_start(x->daemon->base, &job, &x->looking, &ignored);
}
