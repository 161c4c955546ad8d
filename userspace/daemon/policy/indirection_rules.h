/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for what protected names of one work directory lead to: a link at a name that a policy
 * denies, or a setting of a tool, has programs outside obey another file.
 */
#ifndef CORDON_DAEMON_INDIRECTION_RULES_H
#define CORDON_DAEMON_INDIRECTION_RULES_H

#include <stddef.h>

#include "policy/core/compiled.h"

/*
 * Denies at each target what `policy` denies by a rule at the name that leads there.
 *
 * *ret_rules: rules of a policy's section `files`, the same text for the same indirections and
 * rights, or NULL if there are none. *ret_texts: the indirections that they are for, as
 * launch/indirections.h has them, or NULL. The caller frees both.
 *
 * Returns 0; -EINVAL if the texts are not valid; -EBADMSG for damaged tables; -ENOMEM.
 */
int indirection_rules(const struct compiled_policy *policy, char *const *texts, char **ret_rules,
		      char ***ret_texts);

#endif
