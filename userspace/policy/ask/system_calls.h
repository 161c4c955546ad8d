/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls that a policy never needs, for the launcher's seccomp filter. */
#ifndef CORDON_POLICY_SYSTEM_CALLS_H
#define CORDON_POLICY_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/core/compiled.h"

/* True: the hooks decide. False: the launcher's filter denies the call before any hook. */
struct policy_system_calls {
	bool all;		/* no filter */
	bool guarded;		/* calls that a hook denies at their start in any case */
	bool mounts;		/* and other namespaces */
	bool tracing;		/* of the execution's processes */
	bool io_uring;		/* rings */
	bool executable_memory; /* by personality(2) */
	uint64_t families;	/* bit n: sockets of family n */
};

/*
 * Families that have a word in rules are never denied by the filter. The hook that checks them runs
 * before any code of the family, and its event has more details. -EBADMSG: damaged tables.
 */
int policy_system_calls(const struct compiled_policy *policy,
			struct policy_system_calls *ret_calls);

#endif
