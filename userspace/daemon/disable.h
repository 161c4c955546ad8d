/* SPDX-License-Identifier: Apache-2.0 */
/* Turning enforcement off, with or without a daemon. */
#ifndef CORDON_DAEMON_DISABLE_H
#define CORDON_DAEMON_DISABLE_H

#include <stdbool.h>

#include "base/failure.h"

/*
 * Has enforcement of the host unloaded: asks the daemon if one runs, else unloads what is pinned
 * itself, under the daemon's lock. With `force` also what is broken or of another build, after
 * everything in cordon's cgroups was killed. *ret_found: there was something to unload. -EPERM: not
 * root.
 */
int client_disable(bool force, bool *ret_found, struct failure *failure);

#endif
