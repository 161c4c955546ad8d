/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares the caller's standard streams for a command. All processes with the same open file share
 * its offset and flags, for example a shell that reads a script from it. A command therefore gets
 * separate open files where that changes nothing else:
 *
 * - a pipe or a terminal: O_NONBLOCK and the signals of asynchronous input are separate;
 * - a file open for reading: the offset is separate, too. It begins at the caller's offset, which
 *   does not change. If permissions deny a second open, use a pipe (streams_share_place());
 * - a file open for writing is shared, because programs that write in turn continue at the last
 *   offset. The fcntl(2) hook prevents that the execution clears O_APPEND;
 * - a socket cannot be opened again and is shared.
 */
#ifndef CORDON_LAUNCH_STREAMS_H
#define CORDON_LAUNCH_STREAMS_H

#include <stdbool.h>

#define STREAM_COUNT 3

/*
 * For each standard stream returns a close-on-exec descriptor of a separate open file, or -1 if it
 * is shared or closed. The caller calls streams_close().
 */
void streams_open(int ret_fds[STREAM_COUNT]);
/*
 * True if the stream is a file open for reading that could not be opened again, so that its offset
 * would be shared.
 */
bool streams_share_place(int fd, const int fds[STREAM_COUNT]);

/*
 * True if a stream is a regular file open for appending, which may have contents of others.
 * Async-signal-safe.
 */
bool streams_append(void);

void streams_close(int fds[STREAM_COUNT]);

/*
 * Leaves the controlling terminal unless one of the three streams refers to it. The session and
 * process group stay, if possible. Returns 0, or the -ERRNO of the failed step. Async-signal-safe.
 */
int streams_leave_terminal(void);

#endif
