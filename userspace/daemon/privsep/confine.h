/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops the privileges that the daemon does not need, before it opens anything. The daemon stays
 * root, because it loads BPF programs, labels objects, kills tasks and makes cgroups. Its child
 * processes inherit the restriction.
 */
#ifndef CORDON_DAEMON_CONFINE_H
#define CORDON_DAEMON_CONFINE_H

#include "base/failure.h"

/* Returns 0, or -errno: the daemon is not confined and must exit. */
int confine_daemon(struct failure *failure);

#endif
