/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signal mask and the ignored signals that a process was started with, so that a command is
 * started with the very same (`nohup cordon run ...`), whatever its launcher changed for itself.
 */
#ifndef CORDON_LAUNCH_SIGNALS_H
#define CORDON_LAUNCH_SIGNALS_H

#include <signal.h>

struct signal_state {
	sigset_t mask;
	sigset_t ignored;
};

/* Call it before anything changes a disposition or the mask. */
void signal_state_read(struct signal_state *ret_state);

/*
 * Puts the dispositions back: ignored or default, no handler. The mask is left alone.
 * Async-signal-safe.
 */
void signal_state_restore_dispositions(const struct signal_state *state);

#endif
