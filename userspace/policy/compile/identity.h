/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digest of a whole policy: its rules, name, limits, environment and the users that may launch it.
 */
#ifndef CORDON_POLICY_IDENTITY_H
#define CORDON_POLICY_IDENTITY_H

#include "base/sha256.h"
#include "policy/core/compiled.h"

/* The position and spelling of rules do not affect the digest. -ENOMEM, -EIO. */
int policy_identity(const struct compiled_policy *policy, unsigned char ret_identity[SHA256_SIZE]);

#endif
