/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the first part of the filter: calls that depend on many values of one argument. libseccomp
 * would need up to three instructions per value, which the kernel verifies, compiles and runs for
 * each new execution.
 */
#ifndef CORDON_LAUNCH_SECCOMP_VALUES_H
#define CORDON_LAUNCH_SECCOMP_VALUES_H

#include <linux/filter.h>
#include <stddef.h>

#include "policy/ask/system_calls.h"

#define SECCOMP_VALUES_MAX 32

/*
 * Denies socket(2) and socketpair(2) for families outside `families`, and personality(2) with
 * READ_IMPLIES_EXEC unless executable memory is permitted. Other calls continue after the last
 * instruction. Returns the number of instructions.
 */
size_t seccomp_values_build(const struct policy_system_calls *calls,
			    struct sock_filter ret_program[SECCOMP_VALUES_MAX]);

#endif
