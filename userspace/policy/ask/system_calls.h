/* SPDX-License-Identifier: Apache-2.0 */
/* Which system calls an execution has no use for, going by its policy. */
#ifndef CORDON_POLICY_SYSTEM_CALLS_H
#define CORDON_POLICY_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/core/compiled.h"

/* What is true is left to the hooks; what is false the launcher's filter refuses before them. */
struct policy_system_calls {
	bool all;		/* no filter */
	bool guarded;		/* those that a hook refuses at their very beginning */
	bool mounts;		/* and other namespaces */
	bool tracing;		/* of own processes */
	bool io_uring;		/* rings */
	bool executable_memory; /* by personality(2) */
	uint64_t families;	/* bit n: sockets of family n */
};

/*
 * Families that rules have a word for are never refused here: the hook that judges them comes
 * before any of their code, and tells more of what it refuses. -EBADMSG: damaged tables.
 */
int policy_system_calls(const struct compiled_policy *policy,
			struct policy_system_calls *ret_calls);

#endif
