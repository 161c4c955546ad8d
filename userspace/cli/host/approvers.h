/* SPDX-License-Identifier: Apache-2.0 */
/* Which accounts may both propose a policy and approve one, by the host's groups. */
#ifndef CORDON_CLI_APPROVERS_H
#define CORDON_CLI_APPROVERS_H

#include <grp.h>
#include <pwd.h>

/* Members of the first group may run commands and propose, members of the second approve. */
#define APPROVERS_PROPOSE "cordon"
#define APPROVERS_APPROVE "cordon-approvers"

/* Where accounts and groups are listed: getpwent(3), getgrnam(3), or a test's own. */
struct approvers_host {
	const struct group *(*group)(const char *name); /* NULL: there is none */
	void (*rewind)(void);
	const struct passwd *(*next_account)(void); /* NULL: that was the last one */
};

extern const struct approvers_host approvers_of_this_host;

/*
 * Names of accounts that are members of both groups, root excepted, each once and in order; a
 * primary group counts. NULL-terminated; the caller frees it with the names. Returns 0, or -ENOMEM.
 */
int approvers_in_both(const struct approvers_host *host, char ***ret_names);

#endif
