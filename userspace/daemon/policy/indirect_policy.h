/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy of one execution: another policy, with rules for what protected names of the work
 * directory lead to. It is a file of the daemon's own that amends the other policy, so that it is
 * compiled, kept and explained as all others.
 */
#ifndef CORDON_DAEMON_INDIRECT_POLICY_H
#define CORDON_DAEMON_INDIRECT_POLICY_H

#include "base/failure.h"
#include "policy/core/compiled.h"

/* A daemon that starts removes what an earlier one left. */
void indirect_policies_forget(const char *directory);

/*
 * *ret_path: the file, whose name its content decides, in `directory`, which is made if need be;
 * NULL if no rule is needed. *ret_texts: the indirections that it is for, or NULL. The caller frees
 * both.
 *
 * Returns 0; -EINVAL if `texts` are not as launch/indirections.h has them; -ENOMEM; or -errno of
 * the file system.
 */
int indirect_policy_make(const char *directory, const struct compiled_policy *policy,
			 char *const *texts, char **ret_path, char ***ret_texts,
			 struct failure *failure);

#endif
