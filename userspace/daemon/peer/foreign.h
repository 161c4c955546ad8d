/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that came from others: which of them the daemon may close. */
#ifndef CORDON_DAEMON_FOREIGN_H
#define CORDON_DAEMON_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "control/protocol.h"

/*
 * May closing it take for ever? Whoever closes a file waits until its file system has flushed it,
 * even where nothing was written (filp_flush(), fs/open.c; fuse_flush(), fs/fuse/file.c), and that
 * may be a program of whoever sent it; whoever closes a socket may wait for its peer (SO_LINGER).
 * What is open for nothing (O_PATH), directories and processes have nobody to wait for: no request
 * has any others.
 */
bool foreign_may_hang(int fd);

/* Takes those out of `fds`: they stay open for good. How many. */
size_t foreign_set_aside(struct protocol_fds *fds);

#endif
