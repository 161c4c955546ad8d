/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input, output and error, from a program's start to its end. */
#ifndef CORDON_CLI_STANDARD_STREAMS_H
#define CORDON_CLI_STANDARD_STREAMS_H

/*
 * With 0, 1 or 2 closed, the next file opened would become one of them, and get what is printed:
 * opens /dev/null there. They are closed on exec, so that a command finds them as the caller left
 * them. -EBADF: it cannot be opened.
 */
int standard_streams_hold(void);

/* Standard input is /dev/null from here on. -errno of what kept it from being opened. */
int standard_streams_leave_input(void);

/*
 * A result that could not be written is no result. Returns the exit status: `status`, or 1 for
 * that.
 */
int standard_streams_finish(int status);

#endif
