/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that writes one log: an unprivileged user's, which reaches nothing but that log's
 * directory. It adds the chain, the seals, closes segments, compresses and deletes them. The daemon
 * gives it the records, and waits for its answers.
 */
#ifndef CORDON_DAEMON_WRITER_PROCESS_H
#define CORDON_DAEMON_WRITER_PROCESS_H

/*
 * Serves on HELPER_SOCKET_FD until it is told to close or the daemon is gone; returns an exit
 * status.
 */
int writer_process(void);

#endif
