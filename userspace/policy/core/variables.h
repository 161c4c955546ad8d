/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables and git settings with special rules in policies. */
#ifndef CORDON_POLICY_VARIABLES_H
#define CORDON_POLICY_VARIABLES_H

#include <stdbool.h>

/* Number of key and value pairs in GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n. */
#define POLICY_GIT_CONFIG_MAX 64u

/*
 * Names of variables that can make the command run or load other code; some end in '*'.
 * NULL-terminated. A pattern in `keep` does not keep them.
 */
const char *const *policy_loading_variables(void);

/* True if `pattern` has wildcards and only matches such variables: it keeps nothing. */
bool policy_keeps_nothing(const char *pattern);

/*
 * The setting's name if a policy may pass `name` (in lower case) on as ${git:NAME}: a name, an
 * address, a branch, or a directory that git trusts. Otherwise NULL.
 */
const char *policy_git_setting(const char *name);

/*
 * Parses the setting NAME from a variable's value "${git:NAME}". Returns 1 and *ret_name; 0 if the
 * value has no "${git:". -EINVAL if that is not the whole value, or if NAME may not be passed on.
 */
int policy_git_reference(const char *value, const char **ret_name);

#endif
