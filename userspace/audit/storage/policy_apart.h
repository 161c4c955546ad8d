/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a kept policy, which may come from a host or a writer that was taken over, in a process of
 * its own: with bounds on memory and time, and without the right to do anything but to answer.
 */
#ifndef CORDON_AUDIT_POLICY_APART_H
#define CORDON_AUDIT_POLICY_APART_H

#include "base/failure.h"
#include "policy/core/compiled.h"

/*
 * As policy_store_get(), beyond the bounds too -EBADMSG; -EAGAIN: no process could be started, or
 * it did not answer within 10 seconds. Whoever reaps all children must not run meanwhile.
 */
int policy_store_get_apart(const char *directory, const char *digest,
			   struct compiled_policy **ret_policy, struct failure *failure);

#endif
