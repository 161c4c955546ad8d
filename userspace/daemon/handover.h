/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One daemon at a time. A daemon that is started to stay takes over from an embedded daemon, which
 * `cordon run` started for itself, with all executions.
 */
#ifndef CORDON_DAEMON_HANDOVER_H
#define CORDON_DAEMON_HANDOVER_H

#include <signal.h>
#include <stdbool.h>

#include "base/failure.h"

/* Tells an embedded daemon to leave and to unload nothing: the next one goes on with that. */
#define HANDOVER_SIGNAL SIGUSR1

/*
 * Takes the daemon's lock. -EBUSY: another daemon has it that is to stay, or, if this one is
 * `embedded`, any;
 * -ETIMEDOUT: an embedded one was told to leave, and does not.
 */
int handover_lock(bool embedded, int *ret_lock, struct failure *failure);

#endif
