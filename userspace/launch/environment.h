/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds an execution's environment from the caller's variables and the policy.
 *
 * Invariant: variables that make a loader or an interpreter run or load files (LD_PRELOAD,
 * PYTHONPATH, BASH_ENV, ...) are kept only if the policy lists the exact name. A pattern does not
 * keep them; `keep_all` does.
 */
#ifndef CORDON_LAUNCH_ENVIRONMENT_H
#define CORDON_LAUNCH_ENVIRONMENT_H

#include "launch/git_settings.h"
#include "launch/launch.h"

/* Replacement of ${name} in the policy's values. */
struct environment_anchor {
	const char *name;
	const char *path;
};

/* The replacements in the policy's values. */
struct environment_given {
	const struct environment_anchor *anchors;
	size_t anchor_count;
	const struct git_settings *git; /* for ${git:NAME}; NULL: no settings */
};

struct environment {
	char **variables; /* "NAME=value", NULL-terminated */
	char **kept;	  /* names, NULL-terminated, in the caller's order */
	char **removed;	  /* names, NULL-terminated */
};

/*
 * Builds the environment. `caller` is NULL-terminated, as environ(7); of duplicate variables the
 * first one counts. TMPDIR is set to the bound directory "tmp" if it exists and the policy does not
 * set TMPDIR. With identity->change, HOME, USER and LOGNAME describe the new user; PWD is the bound
 * directory "workdir". Names with other than printable ASCII characters are dropped.
 *
 * If the policy sets GIT_CONFIG_COUNT, a pair GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n with the
 * value ${git:NAME} becomes one pair per value of that setting in `given->git`. The pairs are
 * renumbered, and GIT_CONFIG_COUNT becomes the last variable.
 *
 * Returns 0, -EINVAL if the policy uses an unbound ${x} or an invalid name, or -ENOMEM.
 */
int environment_build(char *const *caller, const struct policy_environment *policy,
		      const struct environment_given *given, const struct launch_identity *identity,
		      struct environment *ret_environment, struct failure *failure);

/*
 * Returns only the variables that the policy sets, with TMPDIR as above, as a NULL-terminated list
 * of "NAME=value". The caller frees the list and its entries. Errors as for environment_build().
 */
int environment_set(const struct policy_environment *policy, const struct environment_given *given,
		    char ***ret_variables, struct failure *failure);

void environment_release(struct environment *environment);

/* True if the policy keeps this variable ("NAME=value"). */
bool environment_keeps(const struct policy_environment *policy, const char *variable);

/* Returns the names of loading variables, some with a '*' at the end, NULL-terminated. */
const char *const *environment_loading(void);

/* Returns a variable's value in a NULL-terminated list, or NULL. */
const char *environment_get(char *const *variables, const char *name);

#endif
