/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy would allow a running execution that the one in force does not, for people to read. */
#ifndef CORDON_POLICY_WIDENING_H
#define CORDON_POLICY_WIDENING_H

#include "policy/compile/compile.h"

/* Of two policies that a loop compares: half a second. */
#define WIDENING_TUPLES_LOOP ((size_t)1 << 18)

/*
 * One line for each right and setting in which `b` is wider than `a`, with a shortest example;
 * NULL-terminated, empty: in none. Limits and environment are left out: they are applied at the
 * launch. Caller frees with widening_free().
 *
 * -E2BIG: the two cannot be compared (policy_diff()) within what a loop can wait for; -ENOMEM.
 */
int widening_describe(const struct compiled_policy *a, const struct compiled_policy *b,
		      char ***ret_lines);

/*
 * The same for executions to come, for which limits, environment and who may run them count as well. `tuples_max`:
 * POLICY_TUPLES_MAX, or fewer where others wait.
 */
int widening_describe_all(const struct compiled_policy *a, const struct compiled_policy *b,
			  size_t tuples_max, char ***ret_lines);

/* What is said instead, or before all that the policy allows, where the two have too little in common. */
#define WIDENING_INCOMPARABLE                                                                      \
	"cannot be compared with the approved one: their rules combine in too many ways"

/*
 * Every rule by which `b` allows what `a` does not, the gravest first, 256 at most, then the settings; `a` NULL: all that
 * `b` allows. `written` and `tuples_max` as for widenings_find(). It takes seconds. -E2BIG, -ENOMEM.
 */
int widening_list(const struct compiled_policy *a, const struct compiled_policy *b,
		  const struct policy_written *written, size_t tuples_max, char ***ret_lines);

/* NULL is fine. */
void widening_free(char **lines);

#endif
