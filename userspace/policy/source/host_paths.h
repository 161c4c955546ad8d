/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a policy's patterns against this host's file system. Rules are matched with the resolved
 * names of objects, so names with symbolic links never match. Directories may be named without
 * their contents.
 */
#ifndef CORDON_POLICY_HOST_PATHS_H
#define CORDON_POLICY_HOST_PATHS_H

#include "policy/source/model.h"

/* Adds only warnings and notes, because the policy may suit other hosts. -ENOMEM. */
int host_paths_warn(struct arena *a, const struct model *m, struct diagnostics *d);

#endif
