/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signal mask and ignored signals that a process was started with. Its command starts with the
 * same ones (`nohup cordon run ...`), whatever the launcher changed for itself.
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
 * Restores the dispositions to ignored or default, without handlers. Does not change the mask.
 * Async-signal-safe.
 */
void signal_state_restore_dispositions(const struct signal_state *state);

#endif
