/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's standard streams, as a command gets them. An open file has a place and flags that
 * all who have it share: the shell that goes on reading a script from it included. So a command
 * gets open files of its own of what its streams lead to, as far as that changes nothing else:
 *
 * - a pipe or a terminal: O_NONBLOCK and the signals of asynchronous input are the command's own;
 * - a file that is only read: the place is its own, too. It begins at the caller's, whose stays
 *   where it is. Where permissions do not let it be opened again, it is to be handed through a pipe
 *   (streams_share_place());
 * - a file that is written to is shared. Programs that write to it in turn go on where the last one
 *   stopped, and appending keeps them apart: the kernel sees to it that this flag stays;
 * - a socket cannot be opened again and is shared.
 */
#ifndef CORDON_LAUNCH_STREAMS_H
#define CORDON_LAUNCH_STREAMS_H

#include <stdbool.h>

#define STREAM_COUNT 3

/*
 * For each standard stream a descriptor, closed on exec, of an open file of its own; -1: it is
 * shared, or closed. Caller closes by streams_close().
 */
void streams_open(int ret_fds[STREAM_COUNT]);
/* Is this one a file that is only read, whose place the command would share with the caller? */
bool streams_share_place(int fd, const int fds[STREAM_COUNT]);

/*
 * Is one of the three a file that is appended to, which others may have written to before?
 * Async-signal-safe.
 */
bool streams_append(void);

void streams_close(int fds[STREAM_COUNT]);

/*
 * Leaves the controlling terminal where none of the three streams is it; session and process group
 * stay the caller's. -errno of what kept it from being left. Async-signal-safe.
 */
int streams_leave_terminal(void);

#endif
