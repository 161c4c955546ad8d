/* SPDX-License-Identifier: Apache-2.0 */
/* The commands below `cordon policy`, and what they share. */
#ifndef CORDON_CLI_POLICY_COMMAND_H
#define CORDON_CLI_POLICY_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "policy/compile/compile.h"

/* argv[0] is the command's own word. The result is an exit status. */
int policy_command_check(const struct policy_search *search, int argc, char **argv);
int policy_command_list(const struct policy_search *search, int argc, char **argv);
int policy_command_show(const struct policy_search *search, int argc, char **argv);
int policy_command_explain(const struct policy_search *search, int argc, char **argv);
int policy_command_test(const struct policy_search *search, int argc, char **argv);
int policy_command_apply(const struct policy_search *search, int argc, char **argv);
int policy_command_diff(const struct policy_search *search, int argc, char **argv);
int policy_command_learn(const struct policy_search *search, int argc, char **argv);
int policy_command_propose(const struct policy_search *search, int argc, char **argv);
int policy_command_try(const struct policy_search *search, int argc, char **argv);

/*
 * Compiles a policy or a fragment and says on standard error what is wrong with it; warnings are
 * for `check` alone. Negative errno: it was said why.
 */
int policy_command_load(const char *name, const struct policy_search *search,
			struct compiled_policy **ret_policy);

/* The same; what else there is to say of it, on this host, is in `d`. */
int policy_command_load_here(const char *name, const struct policy_search *search,
			     struct diagnostics *d, struct compiled_policy **ret_policy);

/* The same, and the policy as it is written. */
int policy_command_load_written(const char *name, const struct policy_search *search,
				struct policy_written **ret_written,
				struct compiled_policy **ret_policy);

/* Takes `--json` and `--help` alone. 0: go on at optind; else the exit status is in *ret_status. */
int policy_command_options(int argc, char **argv, void (*print_help)(FILE *out), bool *ret_json,
			   int *ret_status);

/* What `cordon policy diff` prints. Negative errno: it was said why. */
int policy_command_print_diff(FILE *out, struct compiled_policy *a, struct compiled_policy *b);

/* Ends a command's output: 1, and a message, if it could not be written, else `status`. */
int policy_command_finish(int status);

#endif
