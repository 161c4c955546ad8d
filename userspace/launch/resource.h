/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the limits of a policy that the kernel enforces per process (setrlimit(2)). */
#ifndef CORDON_LAUNCH_RESOURCE_H
#define CORDON_LAUNCH_RESOURCE_H

#include <sys/types.h>

#include "policy/core/compiled.h"

/*
 * Applies the limits to the calling process, disables core dumps, and halves the limits counted per
 * user. Raises no other limit: a value above the current hard limit is reduced to it.
 * Async-signal-safe. Returns 0 or the -ERRNO of setrlimit(2).
 */
int resource_limits_apply(const struct policy_limits *limits);

/* Applies them to another process, which must not run. Returns 0 or the -ERRNO of prlimit(2). */
int resource_limits_apply_to(pid_t pid, const struct policy_limits *limits);

/*
 * Checks without a change whether another process has these limits. Returns 0, -EPERM if not, or
 * the -ERRNO of prlimit(2).
 */
int resource_limits_check(pid_t pid, const struct policy_limits *limits);

#endif
