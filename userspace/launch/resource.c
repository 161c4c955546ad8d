/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/resource.h"

#include <sys/resource.h>

#include "base/clock.h"

static rlim_t at_most(rlim_t value, rlim_t bound)
{
	return value < bound ? value : bound;
}

static int lower(int resource, uint64_t soft, uint64_t hard)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return -errno;
	limit.rlim_max = at_most((rlim_t)hard, limit.rlim_max);
	limit.rlim_cur = at_most(at_most((rlim_t)soft, limit.rlim_cur), limit.rlim_max);
	return setrlimit(resource, &limit) < 0 ? -errno : 0;
}

int resource_limits_apply(const struct policy_limits *limits)
{
	/* The kernel counts whole seconds; half a second must not become none at all. */
	uint64_t seconds =
		limits->cpu_time_nsec / NSEC_PER_SEC + (limits->cpu_time_nsec % NSEC_PER_SEC != 0);
	int r;

	/* SIGXCPU first, which says what happened; SIGKILL a second later. */
	if (seconds && (r = lower(RLIMIT_CPU, seconds, seconds + 1)) < 0)
		return r;
	if (limits->address_space_bytes &&
	    (r = lower(RLIMIT_AS, limits->address_space_bytes, limits->address_space_bytes)) < 0)
		return r;
	if (limits->file_size_bytes &&
	    (r = lower(RLIMIT_FSIZE, limits->file_size_bytes, limits->file_size_bytes)) < 0)
		return r;
	if (limits->open_files &&
	    (r = lower(RLIMIT_NOFILE, limits->open_files, limits->open_files)) < 0)
		return r;
	/* A dump would carry the execution's memory to where its policy does not reach. */
	return lower(RLIMIT_CORE, 0, 0);
}
