/* SPDX-License-Identifier: Apache-2.0 */
/* Receives the replies of a log's writer, and acts on them. */
#ifndef CORDON_DAEMON_WRITER_HEAR_H
#define CORDON_DAEMON_WRITER_HEAR_H

struct writer;

/*
 * Handles at most one reply. Returns 0, or -EPIPE if the writer exited or sent a reply without a
 * request.
 */
int writer_hear(struct writer *writer);

#endif
