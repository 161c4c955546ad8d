/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another build's enforcement, taken over while executions live under it: the maps stay, each
 * program of this build is attached before the one that it replaces goes, and no hook is without
 * one at any time.
 */
#ifndef CORDON_KERNEL_UPGRADE_H
#define CORDON_KERNEL_UPGRADE_H

#include "base/failure.h"

/*
 * -ESTALE: what is pinned cannot be used by this build (another ABI, a map of another shape), and
 * nothing was
 * changed. Other failures may leave programs of both builds, each hook with one at least; called
 * again,
 * it goes on.
 */
int upgrade_pinned(int cgroup_fd, struct failure *failure);

#endif
