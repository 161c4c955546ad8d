/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the signal mask and ignored signals, and restores them in the child. */
#include "launch/signals.h"

#include <stddef.h>

void signal_state_read(struct signal_state *ret_state)
{
	struct sigaction action;

	sigemptyset(&ret_state->ignored);
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&ret_state->ignored, signal);
	sigprocmask(SIG_SETMASK, NULL, &ret_state->mask);
}

void signal_state_restore_dispositions(const struct signal_state *state)
{
	struct sigaction action = {0};

	/* The calls fail for SIGKILL, SIGSTOP and libc's signals, which are unchanged anyway. */
	for (int signal = 1; signal <= SIGRTMAX; signal++) {
		action.sa_handler = sigismember(&state->ignored, signal) == 1 ? SIG_IGN : SIG_DFL;
		sigaction(signal, &action, NULL);
	}
}
