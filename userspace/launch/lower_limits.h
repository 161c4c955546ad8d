/* SPDX-License-Identifier: Apache-2.0 */
/* The limits in force: the policy's, lowered by what the caller asks for. */
#ifndef CORDON_LAUNCH_LOWER_LIMITS_H
#define CORDON_LAUNCH_LOWER_LIMITS_H

#include "base/failure.h"
#include "policy/core/compiled.h"

/*
 * A limit that is asked for (not 0) applies if the policy has none or a higher one.
 * -EPERM: one is higher than the policy's; `failure` names both.
 */
int limits_lower(const struct policy_limits *policy, const struct policy_limits *asked,
		 struct policy_limits *ret_limits, struct failure *failure);

#endif
