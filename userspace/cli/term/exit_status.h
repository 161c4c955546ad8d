/* SPDX-License-Identifier: Apache-2.0 */
/* The exit statuses of `cordon run`, as env(1), timeout(1) and shells have them. */
#ifndef CORDON_CLI_EXIT_STATUS_H
#define CORDON_CLI_EXIT_STATUS_H

/*
 * Of all other commands where the command line is wrong. `status` has a meaning of its own for it,
 * since what it says of the host has this one.
 */
#define EXIT_USAGE 2

enum exit_status {
	EXIT_TIMED_OUT = 124,
	EXIT_NOTHING_RAN = 125, /* cordon itself failed */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL = 128, /* + the number of the signal that killed the command */
};

/* From a status of wait(2). */
int exit_status_of_wait(int status);

/* From the errno with which the exec failed. */
int exit_status_of_exec(int error);

#endif
