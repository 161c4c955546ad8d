/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon itself gives up before it opens anything: it is root, to load programs, to label,
 * to kill and to make cgroups, and not to do what else root can. Whatever it starts has that no
 * more, either.
 */
#ifndef CORDON_DAEMON_CONFINE_H
#define CORDON_DAEMON_CONFINE_H

#include "base/failure.h"

/* -errno: it is not confined, and must not go on. */
int confine_daemon(struct failure *failure);

#endif
