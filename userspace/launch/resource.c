/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the limits of a policy that the kernel enforces per process (setrlimit(2)). */
#include "launch/resource.h"

#include <sched.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/clock.h"

/*
 * A core file has at least one page, so that none fits. For every other value, including 0, the
 * kernel also pipes the dump to a host program (do_coredump(), fs/coredump.c). The execution may
 * lower the limit; the hook cred_prepare does not depend on it.
 */
#define CORE_LIMIT 1

static rlim_t at_most(rlim_t value, rlim_t bound)
{
	return value < bound ? value : bound;
}

/* Checks that one limit is as lower() leaves it. */
static int is_lowered(pid_t pid, int resource, uint64_t hard)
{
	struct rlimit limit;

	if (prlimit(pid, (enum __rlimit_resource)resource, NULL, &limit) < 0)
		return -errno;
	return limit.rlim_max <= (rlim_t)hard ? 0 : -EPERM;
}

static bool is_real_time(int scheduler)
{
	scheduler &= ~SCHED_RESET_ON_FORK;
	return scheduler == SCHED_FIFO || scheduler == SCHED_RR || scheduler == SCHED_DEADLINE;
}

/* The kernel counts whole seconds: round up, because 0 would mean no time at all. */
static uint64_t cpu_seconds(const struct policy_limits *limits)
{
	return limits->cpu_time_nsec / NSEC_PER_SEC + (limits->cpu_time_nsec % NSEC_PER_SEC != 0);
}

int resource_limits_check(pid_t pid, const struct policy_limits *limits)
{
	const struct {
		int resource;
		uint64_t wanted, hard;
	} each[] = {
		{RLIMIT_CPU, limits->cpu_time_nsec, cpu_seconds(limits) + 1},
		{RLIMIT_AS, limits->address_space_bytes, limits->address_space_bytes},
		{RLIMIT_FSIZE, limits->file_size_bytes, limits->file_size_bytes},
		{RLIMIT_NOFILE, limits->open_files, limits->open_files},
		{RLIMIT_CORE, 1, CORE_LIMIT},
		{RLIMIT_RTPRIO, 1, 0},
		{RLIMIT_NICE, 1, 0},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(each); i++)
		if (each[i].wanted)
			r = is_lowered(pid, each[i].resource, each[i].hard);
	if (r == 0 && is_real_time(sched_getscheduler(pid)))
		r = -EPERM;
	return r;
}

static int lower(pid_t pid, enum __rlimit_resource resource, uint64_t soft, uint64_t hard)
{
	struct rlimit limit;

	if (prlimit(pid, resource, NULL, &limit) < 0)
		return -errno;
	limit.rlim_max = at_most((rlim_t)hard, limit.rlim_max);
	limit.rlim_cur = at_most(at_most((rlim_t)soft, limit.rlim_cur), limit.rlim_max);
	return prlimit(pid, resource, &limit, NULL) < 0 ? -errno : 0;
}

/* Raises a hard limit of 0 if the caller has the privilege, otherwise keeps it. */
static int limit_dumps(pid_t pid)
{
	const struct rlimit limit = {CORE_LIMIT, CORE_LIMIT};

	if (prlimit(pid, RLIMIT_CORE, &limit, NULL) == 0)
		return 0;
	return errno == EPERM ? lower(pid, RLIMIT_CORE, CORE_LIMIT, CORE_LIMIT) : -errno;
}

/*
 * For resources that the kernel counts per user: it compares the usage of all processes of a user
 * with the limit of the requesting process. With half the limit, an execution leaves the other half
 * to processes outside.
 */
static int leave_half(pid_t pid, enum __rlimit_resource resource)
{
	struct rlimit limit;

	if (prlimit(pid, resource, NULL, &limit) < 0)
		return -errno;
	if (limit.rlim_max == RLIM_INFINITY)
		return 0;
	return lower(pid, resource, limit.rlim_max / 2, limit.rlim_max / 2);
}

/* Resets real-time scheduling inherited from the starting process. */
static int leave_real_time(pid_t pid)
{
	const struct sched_param none = {};
	int scheduler = sched_getscheduler(pid);

	if (scheduler < 0)
		return -errno;
	if (!is_real_time(scheduler))
		return 0;
	return sched_setscheduler(pid, SCHED_OTHER, &none) < 0 ? -errno : 0;
}

int resource_limits_apply_to(pid_t pid, const struct policy_limits *limits)
{
	uint64_t seconds = cpu_seconds(limits);
	int r;

	/* SIGXCPU first, because it identifies the limit; SIGKILL one second later. */
	if (seconds && (r = lower(pid, RLIMIT_CPU, seconds, seconds + 1)) < 0)
		return r;
	if (limits->address_space_bytes && (r = lower(pid, RLIMIT_AS, limits->address_space_bytes,
						      limits->address_space_bytes)) < 0)
		return r;
	if (limits->file_size_bytes &&
	    (r = lower(pid, RLIMIT_FSIZE, limits->file_size_bytes, limits->file_size_bytes)) < 0)
		return r;
	if (limits->open_files &&
	    (r = lower(pid, RLIMIT_NOFILE, limits->open_files, limits->open_files)) < 0)
		return r;
	/* Pending signals and timers; locked memory. */
	r = leave_half(pid, RLIMIT_SIGPENDING);
	if (r == 0)
		r = leave_half(pid, RLIMIT_MEMLOCK);
	/*
	 * cpu.max does not limit real-time tasks, and a low nice value slows down all other tasks.
	 */
	if (r == 0)
		r = lower(pid, RLIMIT_RTPRIO, 0, 0);
	if (r == 0)
		r = lower(pid, RLIMIT_NICE, 0, 0);
	if (r == 0)
		r = leave_real_time(pid);
	/* A dump would write the execution's memory to a place that its policy does not control. */
	return r < 0 ? r : limit_dumps(pid);
}

int resource_limits_apply(const struct policy_limits *limits)
{
	return resource_limits_apply_to(0, limits);
}
