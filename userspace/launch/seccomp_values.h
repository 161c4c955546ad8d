/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands before libseccomp's part of the filter: the calls whose refusal depends on many
 * values of one argument. libseccomp has an instruction or three for each value; the kernel checks,
 * compiles and tries them all for each execution that starts.
 */
#ifndef CORDON_LAUNCH_SECCOMP_VALUES_H
#define CORDON_LAUNCH_SECCOMP_VALUES_H

#include <linux/filter.h>
#include <stddef.h>

#include "policy/ask/system_calls.h"

#define SECCOMP_VALUES_MAX 32

/*
 * Refuses socket(2) and socketpair(2) for families that are not among `families`, and
 * personality(2) for READ_IMPLIES_EXEC unless there may be executable memory. Everything else goes
 * on behind the last of the returned number of instructions.
 */
size_t seccomp_values_build(const struct policy_system_calls *calls,
			    struct sock_filter ret_program[SECCOMP_VALUES_MAX]);

#endif
