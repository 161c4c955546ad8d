/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy would allow a running execution that the one in force does not, for people to read. */
#ifndef CORDON_POLICY_WIDENING_H
#define CORDON_POLICY_WIDENING_H

#include "policy/core/compiled.h"

/*
 * One line for each right and setting in which `b` is wider than `a`, with a shortest example;
 * NULL-terminated, empty: in none. Limits and environment are left out: they are applied at the
 * launch. Caller frees with widening_free().
 *
 * -E2BIG: the two cannot be compared (policy_diff()); -ENOMEM.
 */
int widening_describe(const struct compiled_policy *a, const struct compiled_policy *b,
		      char ***ret_lines);

/* The same for executions to come, for which limits, environment and who may run them count as well. */
int widening_describe_all(const struct compiled_policy *a, const struct compiled_policy *b,
			  char ***ret_lines);

/* NULL is fine. */
void widening_free(char **lines);

#endif
