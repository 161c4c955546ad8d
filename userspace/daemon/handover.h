/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One daemon at a time. One that is to stay takes the place of one that `cordon run` started for
 * itself, with all that runs under it.
 */
#ifndef CORDON_DAEMON_HANDOVER_H
#define CORDON_DAEMON_HANDOVER_H

#include <signal.h>
#include <stdbool.h>

#include "base/failure.h"

/* Tells an embedded daemon to leave and to unload nothing: the next one goes on with what it loaded. */
#define HANDOVER_SIGNAL SIGUSR1

/*
 * Takes the daemon's lock. -EBUSY: another daemon has it that is to stay, or, if this one is
 * `embedded`, any;
 * -ETIMEDOUT: an embedded one was told to leave, and does not.
 */
int handover_lock(bool embedded, int *ret_lock, struct failure *failure);

#endif
