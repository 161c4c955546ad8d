/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readable description of the accesses that a new policy allows a running execution beyond the
 * policy in force.
 */
#ifndef CORDON_POLICY_WIDENING_H
#define CORDON_POLICY_WIDENING_H

#include "policy/compile/compile.h"

/* Tuples that an event loop compares in half a second. */
#define WIDENING_TUPLES_LOOP ((size_t)1 << 18)

/*
 * One line for each right and setting that is wider in `b` than in `a`, with a shortest example.
 * The list is NULL-terminated, and empty if nothing is wider. Limits and environment are left out,
 * because they are applied at the launch. Caller frees with widening_free().
 *
 * -E2BIG: the comparison (policy_diff()) would block an event loop for too long; -ENOMEM.
 */
int widening_describe(const struct compiled_policy *a, const struct compiled_policy *b,
		      char ***ret_lines);

/*
 * The same for future executions: also compares limits, environment and the users that may launch
 * them. `tuples_max`: POLICY_TUPLES_MAX, or fewer in an event loop.
 */
int widening_describe_all(const struct compiled_policy *a, const struct compiled_policy *b,
			  size_t tuples_max, char ***ret_lines);

/* The line that replaces or precedes the list when the policies differ too much to compare. */
#define WIDENING_INCOMPARABLE                                                                      \
	"cannot be compared with the approved one: their rules combine in too many ways"

/*
 * All rules that make `b` allow more than `a`, the most serious first, at most 256, then the
 * settings. `a` NULL: everything that `b` allows. `written` and `tuples_max` as for
 * widenings_find(). It takes seconds. -E2BIG, -ENOMEM.
 */
int widening_list(const struct compiled_policy *a, const struct compiled_policy *b,
		  const struct policy_written *written, size_t tuples_max, char ***ret_lines);

/* NULL is allowed. */
void widening_free(char **lines);

#endif
