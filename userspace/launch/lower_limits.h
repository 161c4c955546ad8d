/* SPDX-License-Identifier: Apache-2.0 */
/* Computes an execution's limits: the policy's, lowered by the caller's request. */
#ifndef CORDON_LAUNCH_LOWER_LIMITS_H
#define CORDON_LAUNCH_LOWER_LIMITS_H

#include "base/failure.h"
#include "policy/core/compiled.h"

/*
 * Applies each requested limit (not 0) if the policy has none or a higher one. Returns 0, or -EPERM
 * if a requested limit is higher; *failure names both.
 */
int limits_lower(const struct policy_limits *policy, const struct policy_limits *asked,
		 struct policy_limits *ret_limits, struct failure *failure);

#endif
