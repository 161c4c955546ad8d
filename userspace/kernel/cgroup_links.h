/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are attached to the cgroup above the executions' cgroups. */
#ifndef CORDON_KERNEL_CGROUP_LINKS_H
#define CORDON_KERNEL_CGROUP_LINKS_H

#include "base/failure.h"

/*
 * A pinned link outlives its cgroup, but then does nothing. Attaches the programs of such links
 * anew, to the cgroup behind `cgroup_fd`, and pins them in place of the old ones. -errno of the
 * step that failed.
 */
int cgroup_links_refresh(int cgroup_fd, struct failure *failure);

/*
 * Attaches the pinned programs that lead DNS to the stub, unless that is done; they stay. Not
 * before a policy has rules for names: where programs for addresses are attached to any cgroup,
 * each connect and each datagram of the host looks for them. -errno of the step that failed.
 */
int cgroup_links_attach_names(int cgroup_fd, struct failure *failure);

#endif
