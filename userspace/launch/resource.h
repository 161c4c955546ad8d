/* SPDX-License-Identifier: Apache-2.0 */
/* Those limits of a policy that the kernel keeps per process (setrlimit(2)). */
#ifndef CORDON_LAUNCH_RESOURCE_H
#define CORDON_LAUNCH_RESOURCE_H

#include <sys/types.h>

#include "policy/core/compiled.h"

/*
 * Applies them to the calling process, turns core dumps off, and leaves half of what is counted by
 * user. No other limit is raised: one above the hard limit in force comes down to it.
 * Async-signal-safe. -errno of setrlimit(2).
 */
int resource_limits_apply(const struct policy_limits *limits);

/* The same to another process, which does not run. -errno of prlimit(2). */
int resource_limits_apply_to(pid_t pid, const struct policy_limits *limits);

/* Are they in force in another process? Changes nothing there. -EPERM: no; -errno of prlimit(2). */
int resource_limits_check(pid_t pid, const struct policy_limits *limits);

#endif
