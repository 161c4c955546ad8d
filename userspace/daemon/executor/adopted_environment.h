/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of an adopted execution, before its first instruction. */
#ifndef CORDON_DAEMON_ADOPTED_ENVIRONMENT_H
#define CORDON_DAEMON_ADOPTED_ENVIRONMENT_H

#include <stdio.h>

#include "daemon/execution/execution.h"
#include "launch/git_settings.h"

/* Names, NULL-terminated, or NULL; for the rest of the process that calls. */
struct adopted_variables {
	char **kept, **removed;
	char **unset; /* to be set, and were not */
};

/*
 * In a process of its own (errand.h), with which the tracing of the execution's ends: overwrites
 * what the policy does not keep where the kernel could not, and sets what it sets, and TMPDIR,
 * while the execution is held. Where /tmp is another than the daemon's, as of a service with
 * PrivateTmp=, TMPDIR is not set. has_workdir, has_tmp: are there ${workdir} and ${tmp}? -EINVAL: a
 * variable is to be ${x}, and nothing is bound to that; -ESRCH and others: its process is gone.
 */
int adopted_environment(const struct execution *e, bool has_workdir, bool has_tmp,
			const struct git_settings *git, struct adopted_variables *variables,
			struct failure *failure);

/* As three lists: kept, removed, unset. */
void adopted_variables_put(const struct adopted_variables *variables, FILE *to);

#endif
