/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of an execution: what the policy keeps of the caller's, and what it sets.
 *
 * Variables that make a loader or an interpreter run or load something (LD_PRELOAD, PYTHONPATH,
 * BASH_ENV, ...) are kept only where the policy names them letter by letter; a pattern does not
 * do. Only `keep_all` keeps them with all others.
 */
#ifndef CORDON_LAUNCH_ENVIRONMENT_H
#define CORDON_LAUNCH_ENVIRONMENT_H

#include "launch/git_settings.h"
#include "launch/launch.h"

/* ${name} in a value that the policy sets stands for path. */
struct environment_anchor {
	const char *name;
	const char *path;
};

/* What the values that a policy sets may speak of. */
struct environment_given {
	const struct environment_anchor *anchors;
	size_t anchor_count;
	const struct git_settings *git; /* for ${git:NAME}; NULL: the user has none */
};

struct environment {
	char **variables; /* "NAME=value", NULL-terminated */
	char **kept;	  /* names, NULL-terminated, in the caller's order */
	char **removed;	  /* names, NULL-terminated */
};

/*
 * `caller` is NULL-terminated, as environ(7); of variables that it has twice, the first counts.
 * TMPDIR is the anchor "tmp", if there is one and the policy does not set TMPDIR. With
 * identity->change, kept HOME, USER and LOGNAME speak of the new user; a kept PWD is the anchor
 * "workdir". Entries whose name is not of printable ASCII are left out.
 *
 * Where the policy sets GIT_CONFIG_COUNT, a pair of GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n whose
 * value is ${git:NAME} stands for all values of that setting in `given->git`. The pairs are
 * numbered anew, and GIT_CONFIG_COUNT is the last variable of all that are set.
 *
 * -EINVAL: the policy sets a variable to ${x} and no such anchor is bound, or an impossible name;
 * -ENOMEM.
 */
int environment_build(char *const *caller, const struct policy_environment *policy,
		      const struct environment_given *given, const struct launch_identity *identity,
		      struct environment *ret_environment, struct failure *failure);

/*
 * What is set whatever the caller has, TMPDIR as above, as "NAME=value", NULL-terminated; the
 * caller frees the list and its entries. Errors as above.
 */
int environment_set(const struct policy_environment *policy, const struct environment_given *given,
		    char ***ret_variables, struct failure *failure);

void environment_release(struct environment *environment);

/* Is a variable ("NAME=value") one that the policy keeps? */
bool environment_keeps(const struct policy_environment *policy, const char *variable);

/* Names that make something load, some with a '*' at their end, NULL-terminated. */
const char *const *environment_loading(void);

/* The value of a variable in a NULL-terminated list, or NULL. */
const char *environment_get(char *const *variables, const char *name);

#endif
