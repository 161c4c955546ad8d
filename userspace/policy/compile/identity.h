/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy as a whole in one digest: what it allows, with its name, limits, environment and who may
 * run it.
 */
#ifndef CORDON_POLICY_IDENTITY_H
#define CORDON_POLICY_IDENTITY_H

#include "base/sha256.h"
#include "policy/core/compiled.h"

/* Where rules stand, and how they are written, makes no difference. -ENOMEM, -EIO. */
int policy_identity(const struct compiled_policy *policy, unsigned char ret_identity[SHA256_SIZE]);

#endif
