/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that writes one log. It runs as an unprivileged user, and can access only that log's
 * directory. It adds the hash chain and the seals, and closes, compresses and deletes segments. The
 * daemon sends it the records, and waits for its replies.
 */
#ifndef CORDON_DAEMON_WRITER_PROCESS_H
#define CORDON_DAEMON_WRITER_PROCESS_H

/* Serves on HELPER_SOCKET_FD until the daemon closes the log, or exits. Returns an exit status. */
int writer_process(void);

#endif
