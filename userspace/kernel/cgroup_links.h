/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are attached to the cgroup above the executions' cgroups. */
#ifndef CORDON_KERNEL_CGROUP_LINKS_H
#define CORDON_KERNEL_CGROUP_LINKS_H

#include "base/failure.h"

/*
 * A pinned link outlives its cgroup, but has no effect then. Attaches the programs of such links to
 * the cgroup behind `cgroup_fd`, and replaces the pins. Returns 0, or -errno of the failed step.
 */
int cgroup_links_refresh(int cgroup_fd, struct failure *failure);

/*
 * Attaches the pinned programs that redirect DNS to the DNS proxy, unless they are attached. They
 * stay attached. Called for the first policy with rules for host names. Once a cgroup has programs
 * for addresses, each connect and datagram of the host looks for them. Returns 0, or -errno of the
 * failed step.
 */
int cgroup_links_attach_names(int cgroup_fd, struct failure *failure);

#endif
