/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes over the enforcement of another build while executions are live. The maps stay. Each new
 * program is attached before the program that it replaces is detached, so that every hook always
 * has a program.
 */
#ifndef CORDON_KERNEL_UPGRADE_H
#define CORDON_KERNEL_UPGRADE_H

#include "base/failure.h"

/*
 * Returns 0, or -ESTALE if this build cannot use the pinned objects (another ABI, a map with
 * another layout), and nothing was changed. After other errors, programs of both builds may be
 * attached, and every hook has at least one. A repeated call continues.
 */
int upgrade_pinned(int cgroup_fd, struct failure *failure);

#endif
