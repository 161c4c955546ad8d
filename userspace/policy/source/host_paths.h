/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this host's file system says of a policy's patterns: names that a symbolic link makes dead,
 * since rules are matched with the names of objects themselves, and directories that are named
 * without what is in them.
 */
#ifndef CORDON_POLICY_HOST_PATHS_H
#define CORDON_POLICY_HOST_PATHS_H

#include "policy/source/model.h"

/* Warns and notes; other hosts may differ, so this is nobody's error. -ENOMEM. */
int host_paths_warn(struct arena *a, const struct model *m, struct diagnostics *d);

#endif
