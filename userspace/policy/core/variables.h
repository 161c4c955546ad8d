/* SPDX-License-Identifier: Apache-2.0 */
/* Which environment variables and git settings a policy may speak of in which way. */
#ifndef CORDON_POLICY_VARIABLES_H
#define CORDON_POLICY_VARIABLES_H

#include <stdbool.h>

/* Pairs of a key and a value in GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n. */
#define POLICY_GIT_CONFIG_MAX 64u

/*
 * Names of variables through which whoever sets them runs code in the command, or changes what it
 * loads; some end in '*'. NULL-terminated. A pattern in `keep` does not keep them.
 */
const char *const *policy_loading_variables(void);

/* Whether `pattern` has wildcards and matches no variable but loading ones: it keeps nothing. */
bool policy_keeps_nothing(const char *pattern);

/*
 * The setting's name if `name`, in lower case, is one that a policy may hand over as
 * ${git:NAME}: a name, an address, a branch, or a directory that git trusts. Else NULL.
 */
const char *policy_git_setting(const char *name);

/*
 * The setting that the value of a variable stands for: NAME of "${git:NAME}". Returns 1 and
 * *ret_name; 0 if the value has no "${git:"; -EINVAL if that is not the whole value, or if NAME is
 * no setting that may be handed over.
 */
int policy_git_reference(const char *value, const char **ret_name);

#endif
